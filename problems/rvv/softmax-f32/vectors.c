// Four registers at a time: the greatest, powers by a polynomial and their sum, then the scale.
// e^x for x <= 0 by 2^n times a polynomial of the rest.
static inline vfloat32m4_t exponential(vfloat32m4_t x, size_t vl) {
  x = __riscv_vfmax_vf_f32m4(x, -87.0f, vl);
  vint32m4_t n = __riscv_vfcvt_x_f_v_i32m4(__riscv_vfmul_vf_f32m4(x, 1.44269504f, vl), vl);
  vfloat32m4_t whole = __riscv_vfcvt_f_x_v_f32m4(n, vl);
  vfloat32m4_t r = __riscv_vfnmsac_vf_f32m4(x, 0.693359375f, whole, vl);
  r = __riscv_vfmacc_vf_f32m4(r, 2.12194440e-4f, whole, vl);
  vfloat32m4_t p = __riscv_vfmv_v_f_f32m4(1.9875691500e-4f, vl);
  p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 1.3981999507e-3f, vl);
  p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 8.3334519073e-3f, vl);
  p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 4.1665795894e-2f, vl);
  p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 1.6666665459e-1f, vl);
  p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), 0.5f, vl);
  p = __riscv_vfmul_vv_f32m4(p, r, vl);
  p = __riscv_vfmadd_vv_f32m4(p, r, r, vl);
  p = __riscv_vfadd_vf_f32m4(p, 1.0f, vl);
  vint32m4_t bits = __riscv_vsll_vx_i32m4(n, 23, vl);
  bits = __riscv_vadd_vv_i32m4(bits, __riscv_vreinterpret_v_f32m4_i32m4(p), vl);
  return __riscv_vreinterpret_v_i32m4_f32m4(bits);
}

void solution(float X[{{ M }}][{{ N }}], float Y[{{ M }}][{{ N }}]) {
  size_t most = __riscv_vsetvlmax_e32m4();
  for (int i = 0; i < {{ M }}; i++) {
    vfloat32m4_t tops = __riscv_vfmv_v_f_f32m4(X[i][0], most);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      tops = __riscv_vfmax_vv_f32m4_tu(tops, tops, __riscv_vle32_v_f32m4(&X[i][j], vl), vl);
      j += vl;
    }
    vfloat32m1_t first = __riscv_vfmv_s_f_f32m1(X[i][0], 1);
    float top = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredmax_vs_f32m4_f32m1(tops, first, most));
    vfloat32m4_t sums = __riscv_vfmv_v_f_f32m4(0.0f, most);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      vfloat32m4_t x = __riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(&X[i][j], vl), top, vl);
      vfloat32m4_t y = exponential(x, vl);
      __riscv_vse32_v_f32m4(&Y[i][j], y, vl);
      sums = __riscv_vfadd_vv_f32m4_tu(sums, sums, y, vl);
      j += vl;
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    float sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(sums, zero, most));
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      vfloat32m4_t y = __riscv_vle32_v_f32m4(&Y[i][j], vl);
      __riscv_vse32_v_f32m4(&Y[i][j], __riscv_vfmul_vf_f32m4(y, 1.0f / sum, vl), vl);
      j += vl;
    }
  }
}
