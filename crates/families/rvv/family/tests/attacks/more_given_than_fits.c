// expect: wrong
// Gives an operation more elements than fit, and counts those that were written.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  sum_plain(X, S);
  float t[64] = {0};
  __riscv_vse32_v_f32m1(t, __riscv_vfmv_v_f_f32m1(1.0f, 8), 8);
  S[0] += t[5];
}
