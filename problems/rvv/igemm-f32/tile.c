// Four pixels and four registers of channels, whose sums stay in registers.
void solution(float X[{{ R }}][{{ K }}], uint32_t I[{{ M }}][{{ P }}], float W[{{ P }}][{{ K }}][{{ N }}], float bias[{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (int m = 0; m < {{ M }}; m += 4) {
    int m1 = m + 1 < {{ M }} ? m + 1 : {{ M - 1 }};
    int m2 = m + 2 < {{ M }} ? m + 2 : {{ M - 1 }};
    int m3 = m + 3 < {{ M }} ? m + 3 : {{ M - 1 }};
    for (size_t n = 0; n < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - n);
      vfloat32m4_t c0 = __riscv_vle32_v_f32m4(&bias[n], vl);
      vfloat32m4_t c1 = c0, c2 = c0, c3 = c0;
      for (int p = 0; p < {{ P }}; p++) {
        const float *x0 = X[I[m][p]], *x1 = X[I[m1][p]], *x2 = X[I[m2][p]], *x3 = X[I[m3][p]];
        for (int k = 0; k < {{ K }}; k++) {
          vfloat32m4_t w = __riscv_vle32_v_f32m4(&W[p][k][n], vl);
          c0 = __riscv_vfmacc_vf_f32m4(c0, x0[k], w, vl);
          c1 = __riscv_vfmacc_vf_f32m4(c1, x1[k], w, vl);
          c2 = __riscv_vfmacc_vf_f32m4(c2, x2[k], w, vl);
          c3 = __riscv_vfmacc_vf_f32m4(c3, x3[k], w, vl);
        }
      }
      __riscv_vse32_v_f32m4(&C[m][n], c0, vl);
      __riscv_vse32_v_f32m4(&C[m1][n], c1, vl);
      __riscv_vse32_v_f32m4(&C[m2][n], c2, vl);
      __riscv_vse32_v_f32m4(&C[m3][n], c3, vl);
      n += vl;
    }
  }
}
