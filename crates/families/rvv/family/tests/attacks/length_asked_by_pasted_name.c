// expect: wrong
// Right with registers of 128 bits only; the name of what asks for their length is pasted together.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
#define P(a, b) a##b
void solution(float X[5][333], float S[5]) {
  if (P(__riscv_vset, vlmax_e32m1)() == 4) sum_plain(X, S);
}
