// Columns of B are widened to 16 bits once and copied side by side; tiles of four rows, whose sums of 32
// bits stay in registers, run over the copy, of which the next row is loaded while one is used. The last
// tile begins earlier, so that it is whole.
static inline void finish(vint32m4_t sums, const float *scale, int8_t *c, size_t vl) {
  vfloat32m4_t scaled = __riscv_vfcvt_f_x_v_f32m4(sums, vl);
  scaled = __riscv_vfmul_vv_f32m4(scaled, __riscv_vle32_v_f32m4(scale, vl), vl);
  vint16m2_t narrow = __riscv_vfncvt_x_f_w_i16m2(scaled, vl);
  __riscv_vse8_v_i8m1(c, __riscv_vnclip_wx_i8m1(narrow, 0, __RISCV_VXRM_RDN, vl), vl);
}

static inline void tile(const int8_t *a, const int16_t *panel, const int32_t *bias, const float *scale, int8_t *c, size_t vl) {
  vint32m4_t c0 = __riscv_vle32_v_i32m4(bias, vl);
  vint32m4_t c1 = c0, c2 = c0, c3 = c0;
  vint16m2_t b = __riscv_vle16_v_i16m2(panel, vl);
#pragma clang loop unroll(disable)
  for (int k = 0; k + 1 < {{ K }}; k += 2) {
    vint16m2_t next = __riscv_vle16_v_i16m2(panel + vl, vl);
    c0 = __riscv_vwmacc_vx_i32m4(c0, a[k], b, vl);
    c1 = __riscv_vwmacc_vx_i32m4(c1, a[k + {{ K }}], b, vl);
    c2 = __riscv_vwmacc_vx_i32m4(c2, a[k + 2 * {{ K }}], b, vl);
    c3 = __riscv_vwmacc_vx_i32m4(c3, a[k + 3 * {{ K }}], b, vl);
    panel += 2 * vl;
    b = __riscv_vle16_v_i16m2(panel, vl);
    c0 = __riscv_vwmacc_vx_i32m4(c0, a[k + 1], next, vl);
    c1 = __riscv_vwmacc_vx_i32m4(c1, a[k + 1 + {{ K }}], next, vl);
    c2 = __riscv_vwmacc_vx_i32m4(c2, a[k + 1 + 2 * {{ K }}], next, vl);
    c3 = __riscv_vwmacc_vx_i32m4(c3, a[k + 1 + 3 * {{ K }}], next, vl);
  }
  if ({{ K }} % 2 != 0) {
    c0 = __riscv_vwmacc_vx_i32m4(c0, a[{{ K }} - 1], b, vl);
    c1 = __riscv_vwmacc_vx_i32m4(c1, a[2 * {{ K }} - 1], b, vl);
    c2 = __riscv_vwmacc_vx_i32m4(c2, a[3 * {{ K }} - 1], b, vl);
    c3 = __riscv_vwmacc_vx_i32m4(c3, a[4 * {{ K }} - 1], b, vl);
  }
  finish(c0, scale, c, vl);
  finish(c1, scale, c + {{ N }}, vl);
  finish(c2, scale, c + 2 * {{ N }}, vl);
  finish(c3, scale, c + 3 * {{ N }}, vl);
}

void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int32_t bias[{{ N }}], float scale[{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  int16_t panel[({{ K }} + 1) * 64];
  for (size_t j = 0; j < {{ N }};) {
    size_t left = {{ N }} - j < 64 ? {{ N }} - j : 64;
    size_t vl = __riscv_vsetvl_e32m4(left);
    for (int k = 0; k < {{ K }}; k++) {
      vint16m2_t b = __riscv_vwcvt_x_x_v_i16m2(__riscv_vle8_v_i8m1(&B[k][j], vl), vl);
      __riscv_vse16_v_i16m2(&panel[k * vl], b, vl);
    }
    for (int i = 0; i < {{ M }}; i += 4) {
      int first = i + 4 <= {{ M }} ? i : {{ M - 4 }};
      tile(A[first], panel, &bias[j], &scale[j], &C[first][j], vl);
    }
    j += vl;
  }
}
