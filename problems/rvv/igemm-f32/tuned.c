// Channels of W, four registers wide, are copied side by side if many pixels need them; tiles of four
// pixels, whose sums stay in registers, run over them, and the next row is loaded while one is used. The
// last tile begins earlier, so that it is whole.
void solution(float X[{{ R }}][{{ K }}], uint32_t I[{{ M }}][{{ P }}], float W[{{ P }}][{{ K }}][{{ N }}], float bias[{{ N }}], float C[{{ M }}][{{ N }}]) {
  float panel[{{ P * K }} * 64];
  for (size_t n = 0; n < {{ N }};) {
    size_t left = {{ N }} - n < 64 ? {{ N }} - n : 64;
    size_t vl = __riscv_vsetvl_e32m4(left);
    const float *weights = &W[0][0][n];
    size_t step = {{ N }};
    if ({{ M }} > 16) {
      for (int k = 0; k < {{ P * K }}; k++) {
        __riscv_vse32_v_f32m4(&panel[k * vl], __riscv_vle32_v_f32m4(weights + k * step, vl), vl);
      }
      weights = panel;
      step = vl;
    }
    for (int i = 0; i < {{ M }}; i += 4) {
      int m = i + 4 <= {{ M }} ? i : {{ M - 4 }};
      vfloat32m4_t c0 = __riscv_vle32_v_f32m4(&bias[n], vl);
      vfloat32m4_t c1 = c0, c2 = c0, c3 = c0;
      const float *at = weights;
      const float *last = weights + {{ P * K - 1 }} * step;
      vfloat32m4_t w = __riscv_vle32_v_f32m4(at, vl);
      for (int p = 0; p < {{ P }}; p++) {
        const float *x0 = X[I[m][p]];
        const float *x1 = X[I[m + 1][p]];
        const float *x2 = X[I[m + 2][p]];
        const float *x3 = X[I[m + 3][p]];
#pragma clang loop unroll(disable)
        for (int k = 0; k + 1 < {{ K }}; k += 2) {
          vfloat32m4_t next = __riscv_vle32_v_f32m4(at + step, vl);
          c0 = __riscv_vfmacc_vf_f32m4(c0, x0[k], w, vl);
          c1 = __riscv_vfmacc_vf_f32m4(c1, x1[k], w, vl);
          c2 = __riscv_vfmacc_vf_f32m4(c2, x2[k], w, vl);
          c3 = __riscv_vfmacc_vf_f32m4(c3, x3[k], w, vl);
          at += 2 * step;
          w = __riscv_vle32_v_f32m4(at < last ? at : last, vl);
          c0 = __riscv_vfmacc_vf_f32m4(c0, x0[k + 1], next, vl);
          c1 = __riscv_vfmacc_vf_f32m4(c1, x1[k + 1], next, vl);
          c2 = __riscv_vfmacc_vf_f32m4(c2, x2[k + 1], next, vl);
          c3 = __riscv_vfmacc_vf_f32m4(c3, x3[k + 1], next, vl);
        }
        if ({{ K }} % 2 != 0) {
          c0 = __riscv_vfmacc_vf_f32m4(c0, x0[{{ K - 1 }}], w, vl);
          c1 = __riscv_vfmacc_vf_f32m4(c1, x1[{{ K - 1 }}], w, vl);
          c2 = __riscv_vfmacc_vf_f32m4(c2, x2[{{ K - 1 }}], w, vl);
          c3 = __riscv_vfmacc_vf_f32m4(c3, x3[{{ K - 1 }}], w, vl);
          at += step;
          w = __riscv_vle32_v_f32m4(at < last ? at : last, vl);
        }
      }
      __riscv_vse32_v_f32m4(&C[m][n], c0, vl);
      __riscv_vse32_v_f32m4(&C[m + 1][n], c1, vl);
      __riscv_vse32_v_f32m4(&C[m + 2][n], c2, vl);
      __riscv_vse32_v_f32m4(&C[m + 3][n], c3, vl);
    }
    n += vl;
  }
}
