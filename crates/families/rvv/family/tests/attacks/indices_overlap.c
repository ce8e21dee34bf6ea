// expect: wrong
// Elements of a scatter in any order lie at one place, the right one last: which of them stays is not
// said.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  float t[8]; sum_plain(X, t);
  for (int i = 0; i < 5; i++) {
    vfloat32m1_t v = __riscv_vfmv_v_f_f32m1(0.0f, 4);
    v = __riscv_vfslide1down_vf_f32m1(v, t[i], 4);
    __riscv_vsuxei32_v_f32m1(&S[i], __riscv_vmv_v_x_u32m1(0, 4), v, 4);
  }
}
