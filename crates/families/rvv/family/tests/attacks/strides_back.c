// expect: illegal
// Reaches before the input by a negative stride.
void solution(float X[5][333], float S[5]) {
  vfloat32m1_t v = __riscv_vlse32_v_f32m1(&X[0][0], -64, 4);
  S[0] = __riscv_vfmv_f_s_f32m1_f32(v);
}
