// 1 / (1 + e^-x) by a polynomial and two steps of Newton's method, without a division and without a choice. What
// comes next is loaded before.
// e^x for x between -87 and 87, and of the nearer end beyond, by 2^n times a polynomial of the rest; adding `magic` rounds to whole numbers, which
// are the low bits of the sum then.
static inline vfloat32m4_t exponential(vfloat32m4_t x, vfloat32m4_t ones, vfloat32m4_t c2, vfloat32m4_t c3, size_t vl) {
  const float magic = 12582912.0f;
  x = __riscv_vfmin_vf_f32m4(__riscv_vfmax_vf_f32m4(x, -87.0f, vl), 87.0f, vl);
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

void solution(float X[{{ N }}], float Y[{{ N }}]) {
  size_t most = __riscv_vsetvlmax_e32m4();
  vfloat32m4_t ones = __riscv_vfmv_v_f_f32m4(1.0f, most);
  vfloat32m4_t c2 = __riscv_vfmv_v_f_f32m4(0.49999231f, most);
  vfloat32m4_t c3 = __riscv_vfmv_v_f_f32m4(0.16667116f, most);
  const float *from = X;
  float *to = Y;
  size_t n = {{ N }};
  size_t vl = __riscv_vsetvl_e32m4(n);
  vfloat32m4_t next = __riscv_vle32_v_f32m4(from, vl);
  while (n > 0) {
    vfloat32m4_t x = __riscv_vfrsub_vf_f32m4(next, 0.0f, vl);
    size_t after = __riscv_vsetvl_e32m4(n - vl);
    next = __riscv_vle32_v_f32m4(from + vl, after);
    vfloat32m4_t d = __riscv_vfadd_vf_f32m4(exponential(x, ones, c2, c3, vl), 1.0f, vl);
    vfloat32m4_t y = __riscv_vfrec7_v_f32m4(d, vl);
    vfloat32m4_t off = __riscv_vfrsub_vf_f32m4(__riscv_vfmul_vv_f32m4(d, y, vl), 2.0f, vl);
    y = __riscv_vfmul_vv_f32m4(y, off, vl);
    off = __riscv_vfrsub_vf_f32m4(__riscv_vfmul_vv_f32m4(d, y, vl), 2.0f, vl);
    y = __riscv_vfmul_vv_f32m4(y, off, vl);
    __riscv_vse32_v_f32m4(to, y, vl);
    n -= vl;
    from += vl;
    to += vl;
    vl = after;
  }
}
