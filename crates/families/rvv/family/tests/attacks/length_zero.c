// expect: wrong
// A length of zero does nothing at all, not even to the first element.
void solution(float X[5][333], float S[5]) {
  volatile size_t none = 0;
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    vfloat32m1_t old = __riscv_vfmv_v_f_f32m1(1, 4);
    vfloat32m1_t v = __riscv_vfmv_s_f_f32m1_tu(old, sum, none);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(v);
  }
}
