// Rows of B, as many as four registers have elements, are copied side by side, transposed; tiles of six
// rows, whose sums stay in registers, run over the copy, of which the next row is loaded while one is
// used. The last tile begins earlier, so that it is whole.
static inline void tile(const float *a, const float *panel, float *c, size_t vl) {
  vfloat32m4_t c0 = __riscv_vfmv_v_f_f32m4(0.0f, vl);
  vfloat32m4_t c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0;
  vfloat32m4_t b = __riscv_vle32_v_f32m4(panel, vl);
  for (int k = 0; k + 1 < {{ K }}; k += 2) {
    vfloat32m4_t next = __riscv_vle32_v_f32m4(panel + vl, vl);
    c0 = __riscv_vfmacc_vf_f32m4(c0, a[k], b, vl);
    c1 = __riscv_vfmacc_vf_f32m4(c1, a[k + {{ K }}], b, vl);
    c2 = __riscv_vfmacc_vf_f32m4(c2, a[k + 2 * {{ K }}], b, vl);
    c3 = __riscv_vfmacc_vf_f32m4(c3, a[k + 3 * {{ K }}], b, vl);
    c4 = __riscv_vfmacc_vf_f32m4(c4, a[k + 4 * {{ K }}], b, vl);
    c5 = __riscv_vfmacc_vf_f32m4(c5, a[k + 5 * {{ K }}], b, vl);
    panel += 2 * vl;
    b = __riscv_vle32_v_f32m4(panel, vl);
    c0 = __riscv_vfmacc_vf_f32m4(c0, a[k + 1], next, vl);
    c1 = __riscv_vfmacc_vf_f32m4(c1, a[k + 1 + {{ K }}], next, vl);
    c2 = __riscv_vfmacc_vf_f32m4(c2, a[k + 1 + 2 * {{ K }}], next, vl);
    c3 = __riscv_vfmacc_vf_f32m4(c3, a[k + 1 + 3 * {{ K }}], next, vl);
    c4 = __riscv_vfmacc_vf_f32m4(c4, a[k + 1 + 4 * {{ K }}], next, vl);
    c5 = __riscv_vfmacc_vf_f32m4(c5, a[k + 1 + 5 * {{ K }}], next, vl);
  }
  if ({{ K }} % 2 != 0) {
    c0 = __riscv_vfmacc_vf_f32m4(c0, a[{{ K }} - 1], b, vl);
    c1 = __riscv_vfmacc_vf_f32m4(c1, a[{{ K }} - 1 + {{ K }}], b, vl);
    c2 = __riscv_vfmacc_vf_f32m4(c2, a[{{ K }} - 1 + 2 * {{ K }}], b, vl);
    c3 = __riscv_vfmacc_vf_f32m4(c3, a[{{ K }} - 1 + 3 * {{ K }}], b, vl);
    c4 = __riscv_vfmacc_vf_f32m4(c4, a[{{ K }} - 1 + 4 * {{ K }}], b, vl);
    c5 = __riscv_vfmacc_vf_f32m4(c5, a[{{ K }} - 1 + 5 * {{ K }}], b, vl);
  }
  __riscv_vse32_v_f32m4(c, c0, vl);
  __riscv_vse32_v_f32m4(c + {{ N }}, c1, vl);
  __riscv_vse32_v_f32m4(c + 2 * {{ N }}, c2, vl);
  __riscv_vse32_v_f32m4(c + 3 * {{ N }}, c3, vl);
  __riscv_vse32_v_f32m4(c + 4 * {{ N }}, c4, vl);
  __riscv_vse32_v_f32m4(c + 5 * {{ N }}, c5, vl);
}

void solution(float A[{{ M }}][{{ K }}], float B[{{ N }}][{{ K }}], float C[{{ M }}][{{ N }}]) {
  float panel[({{ K }} + 1) * 64];
  for (size_t j = 0; j < {{ N }};) {
    size_t left = {{ N }} - j < 64 ? {{ N }} - j : 64;
    size_t vl = __riscv_vsetvl_e32m4(left);
    for (int k = 0; k < {{ K }}; k++) {
      vfloat32m4_t column = __riscv_vlse32_v_f32m4(&B[j][k], {{ K }} * sizeof(float), vl);
      __riscv_vse32_v_f32m4(&panel[k * vl], column, vl);
    }
    for (int i = 0; i < {{ M }}; i += 6) {
      int first = i + 6 <= {{ M }} ? i : {{ M - 6 }};
      tile(A[first], panel, &C[first][j], vl);
    }
    j += vl;
  }
}
