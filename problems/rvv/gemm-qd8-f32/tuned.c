// Rows of B, widened to 16 bits, are used for as many as seven rows of A at once, whose sums of 32 bits
// stay in registers; for a row alone, eight rows of B at a time are read along, so that their lines are
// fetched ahead.
static inline void finish(vint32m4_t sums, float scale, const float *weight, const float *bias, float *c, size_t vl) {
  vfloat32m4_t scaled = __riscv_vfmul_vf_f32m4(__riscv_vfcvt_f_x_v_f32m4(sums, vl), scale, vl);
  vfloat32m4_t result = __riscv_vle32_v_f32m4(bias, vl);
  result = __riscv_vfmacc_vv_f32m4(result, scaled, __riscv_vle32_v_f32m4(weight, vl), vl);
  __riscv_vse32_v_f32m4(c, result, vl);
}

static inline vint16m2_t wide(const int8_t *b, size_t vl) {
  return __riscv_vwcvt_x_x_v_i16m2(__riscv_vle8_v_i8m1(b, vl), vl);
}

static inline void seven(int8_t (*A)[{{ K }}], int8_t (*B)[{{ N }}], const int32_t *zero, const float *scale, const float *weight, const float *bias, float (*C)[{{ N }}], size_t j, size_t vl) {
  vint32m4_t c0 = __riscv_vmv_v_x_i32m4(0, vl);
  vint32m4_t c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0;
  int z0 = zero[0], z1 = zero[1], z2 = zero[2], z3 = zero[3], z4 = zero[4], z5 = zero[5], z6 = zero[6];
#pragma clang loop unroll(disable)
  for (int k = 0; k < {{ K }}; k++) {
    vint16m2_t b = wide(&B[k][j], vl);
    c0 = __riscv_vwmacc_vx_i32m4(c0, A[0][k] - z0, b, vl);
    c1 = __riscv_vwmacc_vx_i32m4(c1, A[1][k] - z1, b, vl);
    c2 = __riscv_vwmacc_vx_i32m4(c2, A[2][k] - z2, b, vl);
    c3 = __riscv_vwmacc_vx_i32m4(c3, A[3][k] - z3, b, vl);
    c4 = __riscv_vwmacc_vx_i32m4(c4, A[4][k] - z4, b, vl);
    c5 = __riscv_vwmacc_vx_i32m4(c5, A[5][k] - z5, b, vl);
    c6 = __riscv_vwmacc_vx_i32m4(c6, A[6][k] - z6, b, vl);
  }
  finish(c0, scale[0], &weight[j], &bias[j], &C[0][j], vl);
  finish(c1, scale[1], &weight[j], &bias[j], &C[1][j], vl);
  finish(c2, scale[2], &weight[j], &bias[j], &C[2][j], vl);
  finish(c3, scale[3], &weight[j], &bias[j], &C[3][j], vl);
  finish(c4, scale[4], &weight[j], &bias[j], &C[4][j], vl);
  finish(c5, scale[5], &weight[j], &bias[j], &C[5][j], vl);
  finish(c6, scale[6], &weight[j], &bias[j], &C[6][j], vl);
}

// Adds what as many as eight rows of B, beginning with row `k`, contribute.
static inline void eight(const int8_t *a, int8_t (*B)[{{ N }}], int32_t zero, int k, int32_t *sums) {
  int x[8];
  const int8_t *rows[8];
#pragma clang loop unroll(full)
  for (int at = 0; at < 8; at++) {
    x[at] = k + at < {{ K }} ? a[k + at] - zero : 0;
    rows[at] = B[k + at < {{ K }} ? k + at : {{ K - 1 }}];
  }
#pragma clang loop unroll(disable)
  for (size_t j = 0; j < {{ N }};) {
    size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
    vint32m4_t c = __riscv_vle32_v_i32m4(&sums[j], vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[0], wide(&rows[0][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[1], wide(&rows[1][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[2], wide(&rows[2][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[3], wide(&rows[3][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[4], wide(&rows[4][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[5], wide(&rows[5][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[6], wide(&rows[6][j], vl), vl);
    c = __riscv_vwmacc_vx_i32m4(c, x[7], wide(&rows[7][j], vl), vl);
    __riscv_vse32_v_i32m4(&sums[j], c, vl);
    j += vl;
  }
}

static inline void one(const int8_t *a, int8_t (*B)[{{ N }}], int32_t zero, float scale, const float *weight, const float *bias, float *c) {
  int32_t sums[{{ N }}];
  memset(sums, 0, sizeof sums);
  for (int k = 0; k < {{ K }}; k += 8) {
    eight(a, B, zero, k, sums);
  }
  for (size_t j = 0; j < {{ N }};) {
    size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
    finish(__riscv_vle32_v_i32m4(&sums[j], vl), scale, &weight[j], &bias[j], &c[j], vl);
    j += vl;
  }
}

void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int32_t zero[{{ M }}], float scale[{{ M }}], float weight[{{ N }}], float bias[{{ N }}], float C[{{ M }}][{{ N }}]) {
  int i = 0;
  for (; i + 7 <= {{ M }}; i += 7) {
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      seven(&A[i], B, &zero[i], &scale[i], weight, bias, &C[i], j, vl);
      j += vl;
    }
  }
  for (; i < {{ M }}; i++) {
    one(A[i], B, zero[i], scale[i], weight, bias, C[i]);
  }
}
