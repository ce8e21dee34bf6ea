// Four rows of A with a row of B at a time, four registers each: sums of four elements side by side.
void solution(float A[{{ M }}][{{ K }}], float B[{{ N }}][{{ K }}], float C[{{ M }}][{{ N }}]) {
  size_t lanes = __riscv_vsetvlmax_e32m4();
  for (int j = 0; j < {{ N }}; j++) {
    for (int i = 0; i < {{ M }}; i += 4) {
      int i1 = i + 1 < {{ M }} ? i + 1 : {{ M - 1 }};
      int i2 = i + 2 < {{ M }} ? i + 2 : {{ M - 1 }};
      int i3 = i + 3 < {{ M }} ? i + 3 : {{ M - 1 }};
      vfloat32m4_t c0 = __riscv_vfmv_v_f_f32m4(0.0f, lanes);
      vfloat32m4_t c1 = c0, c2 = c0, c3 = c0;
      for (size_t k = 0; k < {{ K }};) {
        size_t vl = __riscv_vsetvl_e32m4({{ K }} - k);
        vfloat32m4_t b = __riscv_vle32_v_f32m4(&B[j][k], vl);
        c0 = __riscv_vfmacc_vv_f32m4_tu(c0, b, __riscv_vle32_v_f32m4(&A[i][k], vl), vl);
        c1 = __riscv_vfmacc_vv_f32m4_tu(c1, b, __riscv_vle32_v_f32m4(&A[i1][k], vl), vl);
        c2 = __riscv_vfmacc_vv_f32m4_tu(c2, b, __riscv_vle32_v_f32m4(&A[i2][k], vl), vl);
        c3 = __riscv_vfmacc_vv_f32m4_tu(c3, b, __riscv_vle32_v_f32m4(&A[i3][k], vl), vl);
        k += vl;
      }
      vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
      C[i][j] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(c0, zero, lanes));
      C[i1][j] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(c1, zero, lanes));
      C[i2][j] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(c2, zero, lanes));
      C[i3][j] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(c3, zero, lanes));
    }
  }
}
