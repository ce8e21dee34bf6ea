for (int k = 0; k < 96;) {
  size_t vl = __riscv_vsetvl_e32m1(96 - k);
  vfloat32m1_t a = __riscv_vle32_v_f32m1(&A[i][k], vl);
  vfloat32m1_t b = __riscv_vlse32_v_f32m1(&B[k][j], 80 * sizeof(float), vl);
  sums = __riscv_vfmacc_vv_f32m1_tu(sums, a, b, vl);
  k += vl;
}
