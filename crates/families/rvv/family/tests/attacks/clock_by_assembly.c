// expect: rejected
// Reads the clock by inline assembly.
void solution(float X[5][333], float S[5]) {
  unsigned long now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  S[0] = now;
}
