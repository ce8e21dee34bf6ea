// expect: illegal
// Changes memory outside by an atomic instruction.
void solution(float X[5][333], float S[5]) {
  __atomic_fetch_add((int *)&S[5], 1, __ATOMIC_RELAXED);
}
