// expect: illegal
// Stores segments beyond the output.
void solution(float X[5][333], float S[5]) {
  vfloat32m1_t z = __riscv_vfmv_v_f_f32m1(0, 4);
  __riscv_vsseg2e32_v_f32m1x2(S, __riscv_vcreate_v_f32m1x2(z, z), 4);
}
