// expect: wrong
// Right only if an unordered sum adds up in the order of the elements.
static inline void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  sum_plain(X, S);
  static volatile float numbers[4] = {1.0f, 1e30f, -1e30f, 0.0f};
  vfloat32m1_t v = __riscv_vle32_v_f32m1((const float *)numbers, 4);
  vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
  S[0] += __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(v, zero, 4));
}
