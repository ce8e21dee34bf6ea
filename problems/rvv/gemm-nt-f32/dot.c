// A dot product for each element, both operands loaded with a stride of 4 bytes: how the published
// search began.
void solution(float A[{{ M }}][{{ K }}], float B[{{ N }}][{{ K }}], float C[{{ M }}][{{ N }}]) {
  size_t lanes = __riscv_vsetvlmax_e32m1();
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      vfloat32m1_t sums = __riscv_vfmv_v_f_f32m1(0.0f, lanes);
      const float *a = A[i];
      const float *b = B[j];
      for (size_t n = {{ K }}; n > 0;) {
        size_t vl = __riscv_vsetvl_e32m1(n);
        vfloat32m1_t x = __riscv_vlse32_v_f32m1(a, sizeof(float), vl);
        vfloat32m1_t y = __riscv_vlse32_v_f32m1(b, sizeof(float), vl);
        sums = __riscv_vfmacc_vv_f32m1_tu(sums, x, y, vl);
        a += vl;
        b += vl;
        n -= vl;
      }
      vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, lanes);
      C[i][j] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(sums, zero, lanes));
    }
  }
}
