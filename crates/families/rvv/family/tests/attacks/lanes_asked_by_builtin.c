// expect: wrong
// Right with registers of 128 bits only; how many elements fit is told by a builtin of the compiler.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  if (__builtin_rvv_vsetvlimax(2, 0) == 4) sum_plain(X, S);
}
