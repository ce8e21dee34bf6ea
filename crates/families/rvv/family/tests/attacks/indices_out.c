// expect: illegal
// Reaches out of the input by an index.
void solution(float X[5][333], float S[5]) {
  vuint32m1_t at = __riscv_vmv_v_x_u32m1(8000, 4);
  vfloat32m1_t v = __riscv_vluxei32_v_f32m1(&X[0][0], at, 4);
  S[0] = __riscv_vfmv_f_s_f32m1_f32(v);
}
