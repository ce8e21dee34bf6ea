size_t vl = __riscv_vsetvl_e32m4(80 - j);
for (int k = 0; k < 96; k++) {
  vfloat32m4_t b = __riscv_vle32_v_f32m4(&B[k][j], vl);
  c0 = __riscv_vfmacc_vf_f32m4(c0, A[i][k], b, vl);
  c1 = __riscv_vfmacc_vf_f32m4(c1, A[i + 1][k], b, vl);
  c2 = __riscv_vfmacc_vf_f32m4(c2, A[i + 2][k], b, vl);
  c3 = __riscv_vfmacc_vf_f32m4(c3, A[i + 3][k], b, vl);
}
