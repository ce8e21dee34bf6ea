// Powers by a polynomial whose numbers stay in registers, and one division for each row.
// e^x for x <= 0 by 2^n times a polynomial of the rest; adding `magic` rounds to whole numbers, which
// are the low bits of the sum then.
static inline vfloat32m4_t exponential(vfloat32m4_t x, vfloat32m4_t ones, vfloat32m4_t c2, vfloat32m4_t c3, size_t vl) {
  const float magic = 12582912.0f;
  x = __riscv_vfmax_vf_f32m4(x, -87.0f, vl);
  vfloat32m4_t shifted = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vf_f32m4(x, 1.44269504f, vl), magic, vl);
  vfloat32m4_t whole = __riscv_vfsub_vf_f32m4(shifted, magic, vl);
  vfloat32m4_t r = __riscv_vfmacc_vf_f32m4(x, -0.693359375f, whole, vl);
  r = __riscv_vfmacc_vf_f32m4(r, 2.12194440e-4f, whole, vl);
  vfloat32m4_t p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vf_f32m4(r, 8.312501e-3f, vl), 4.1890331e-2f, vl);
  p = __riscv_vfmadd_vv_f32m4(p, r, c3, vl);
  p = __riscv_vfmadd_vv_f32m4(p, r, c2, vl);
  p = __riscv_vfmadd_vv_f32m4(p, r, ones, vl);
  p = __riscv_vfmadd_vv_f32m4(p, r, ones, vl);
  vint32m4_t power = __riscv_vsll_vx_i32m4(__riscv_vreinterpret_v_f32m4_i32m4(shifted), 23, vl);
  power = __riscv_vadd_vv_i32m4(power, __riscv_vreinterpret_v_f32m4_i32m4(p), vl);
  return __riscv_vreinterpret_v_i32m4_f32m4(power);
}

static inline float greatest(const float *x, size_t n) {
  size_t most = __riscv_vsetvlmax_e32m4();
  vfloat32m4_t tops = __riscv_vfmv_v_f_f32m4(x[0], most);
  vfloat32m4_t others = tops;
  for (; n >= 2 * most; n -= 2 * most, x += 2 * most) {
    vfloat32m4_t one = __riscv_vle32_v_f32m4(x, most);
    vfloat32m4_t two = __riscv_vle32_v_f32m4(x + most, most);
    tops = __riscv_vfmax_vv_f32m4(tops, one, most);
    others = __riscv_vfmax_vv_f32m4(others, two, most);
  }
  for (; n > 0;) {
    size_t vl = __riscv_vsetvl_e32m4(n);
    tops = __riscv_vfmax_vv_f32m4_tu(tops, tops, __riscv_vle32_v_f32m4(x, vl), vl);
    n -= vl;
    x += vl;
  }
  tops = __riscv_vfmax_vv_f32m4(tops, others, most);
  vfloat32m1_t first = __riscv_vget_v_f32m4_f32m1(tops, 0);
  return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredmax_vs_f32m4_f32m1(tops, first, most));
}

// Writes the powers of the distances to `top`, and returns their sum. What comes next is loaded before
// powers are computed.
static inline float powers(const float *x, float *to, size_t n, float top) {
  size_t most = __riscv_vsetvlmax_e32m4();
  vfloat32m4_t ones = __riscv_vfmv_v_f_f32m4(1.0f, most);
  vfloat32m4_t c2 = __riscv_vfmv_v_f_f32m4(0.49999231f, most);
  vfloat32m4_t c3 = __riscv_vfmv_v_f_f32m4(0.16667116f, most);
  vfloat32m4_t sums = __riscv_vfmv_v_f_f32m4(0.0f, most);
  size_t vl = __riscv_vsetvl_e32m4(n);
  vfloat32m4_t next = __riscv_vle32_v_f32m4(x, vl);
  while (n > 0) {
    vfloat32m4_t y = __riscv_vfsub_vf_f32m4(next, top, vl);
    size_t after = __riscv_vsetvl_e32m4(n - vl);
    next = __riscv_vle32_v_f32m4(x + vl, after);
    y = exponential(y, ones, c2, c3, vl);
    __riscv_vse32_v_f32m4(to, y, vl);
    sums = __riscv_vfadd_vv_f32m4_tu(sums, sums, y, vl);
    n -= vl;
    x += vl;
    to += vl;
    vl = after;
  }
  vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
  return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(sums, zero, most));
}

void solution(float X[{{ M }}][{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float scale = 1.0f / powers(X[i], Y[i], {{ N }}, greatest(X[i], {{ N }}));
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m8({{ N }} - j);
      vfloat32m8_t y = __riscv_vle32_v_f32m8(&Y[i][j], vl);
      __riscv_vse32_v_f32m8(&Y[i][j], __riscv_vfmul_vf_f32m8(y, scale, vl), vl);
      j += vl;
    }
  }
}
