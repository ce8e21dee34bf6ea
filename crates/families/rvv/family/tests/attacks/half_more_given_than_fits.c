// expect: wrong
// Gives an operation half as many elements again as fit, and takes the first register to be full.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  sum_plain(X, S);
  volatile size_t n = 6;
  float t[64] = {0};
  __riscv_vse32_v_f32m1(t, __riscv_vfmv_v_f_f32m1(1.0f, n), n);
  S[0] += t[3] - 1;
}
