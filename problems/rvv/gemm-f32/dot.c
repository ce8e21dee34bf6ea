// A dot product for each element, both operands loaded with a stride.
void solution(float A[{{ M }}][{{ K }}], float B[{{ K }}][{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      size_t lanes = __riscv_vsetvlmax_e32m1();
      vfloat32m1_t sums = __riscv_vfmv_v_f_f32m1(0.0f, lanes);
      for (size_t k = 0; k < {{ K }};) {
        size_t vl = __riscv_vsetvl_e32m1({{ K }} - k);
        vfloat32m1_t a = __riscv_vlse32_v_f32m1(&A[i][k], sizeof(float), vl);
        vfloat32m1_t b = __riscv_vlse32_v_f32m1(&B[k][j], {{ N }} * sizeof(float), vl);
        sums = __riscv_vfmacc_vv_f32m1_tu(sums, a, b, vl);
        k += vl;
      }
      vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, lanes);
      C[i][j] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(sums, zero, lanes));
    }
  }
}
