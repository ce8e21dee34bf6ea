// Four rows at a time, so that G is loaded once for four of them; sums of four rows do not wait for each
// other.
static inline float scale(vfloat32m4_t sums, size_t most) {
  vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
  float sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(sums, zero, most));
  return 1.0f / sqrtf(sum / {{ N }} + 1e-6f);
}

static inline void store(float *y, const float *x, vfloat32m8_t g, float scale, size_t vl) {
  vfloat32m8_t scaled = __riscv_vfmul_vf_f32m8(__riscv_vle32_v_f32m8(x, vl), scale, vl);
  __riscv_vse32_v_f32m8(y, __riscv_vfmul_vv_f32m8(scaled, g, vl), vl);
}

void solution(float X[{{ M }}][{{ N }}], float G[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  size_t most = __riscv_vsetvlmax_e32m4();
  for (int row = 0; row < {{ M }}; row += 4) {
    int i = row + 4 <= {{ M }} ? row : {{ M - 4 }};
    vfloat32m4_t s0 = __riscv_vfmv_v_f_f32m4(0.0f, most);
    vfloat32m4_t s1 = s0, s2 = s0, s3 = s0;
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      vfloat32m4_t a = __riscv_vle32_v_f32m4(&X[i][j], vl);
      vfloat32m4_t b = __riscv_vle32_v_f32m4(&X[i + 1][j], vl);
      vfloat32m4_t c = __riscv_vle32_v_f32m4(&X[i + 2][j], vl);
      vfloat32m4_t d = __riscv_vle32_v_f32m4(&X[i + 3][j], vl);
      s0 = __riscv_vfmacc_vv_f32m4_tu(s0, a, a, vl);
      s1 = __riscv_vfmacc_vv_f32m4_tu(s1, b, b, vl);
      s2 = __riscv_vfmacc_vv_f32m4_tu(s2, c, c, vl);
      s3 = __riscv_vfmacc_vv_f32m4_tu(s3, d, d, vl);
      j += vl;
    }
    float f0 = scale(s0, most), f1 = scale(s1, most), f2 = scale(s2, most), f3 = scale(s3, most);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m8({{ N }} - j);
      vfloat32m8_t g = __riscv_vle32_v_f32m8(&G[j], vl);
      store(&Y[i][j], &X[i][j], g, f0, vl);
      store(&Y[i + 1][j], &X[i + 1][j], g, f1, vl);
      store(&Y[i + 2][j], &X[i + 2][j], g, f2, vl);
      store(&Y[i + 3][j], &X[i + 3][j], g, f3, vl);
      j += vl;
    }
  }
}
