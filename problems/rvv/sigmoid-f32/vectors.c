// e^-|x| by a polynomial, and the result or its distance from one by the sign.
// e^x for x <= 0 by 2^n times a polynomial of the rest.
static inline vfloat32m2_t exponential(vfloat32m2_t x, size_t vl) {
  x = __riscv_vfmax_vf_f32m2(x, -87.0f, vl);
  vint32m2_t n = __riscv_vfcvt_x_f_v_i32m2(__riscv_vfmul_vf_f32m2(x, 1.44269504f, vl), vl);
  vfloat32m2_t whole = __riscv_vfcvt_f_x_v_f32m2(n, vl);
  vfloat32m2_t r = __riscv_vfnmsac_vf_f32m2(x, 0.693359375f, whole, vl);
  r = __riscv_vfmacc_vf_f32m2(r, 2.12194440e-4f, whole, vl);
  vfloat32m2_t p = __riscv_vfmv_v_f_f32m2(1.9875691500e-4f, vl);
  p = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vv_f32m2(p, r, vl), 1.3981999507e-3f, vl);
  p = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vv_f32m2(p, r, vl), 8.3334519073e-3f, vl);
  p = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vv_f32m2(p, r, vl), 4.1665795894e-2f, vl);
  p = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vv_f32m2(p, r, vl), 1.6666665459e-1f, vl);
  p = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vv_f32m2(p, r, vl), 0.5f, vl);
  p = __riscv_vfmul_vv_f32m2(p, r, vl);
  p = __riscv_vfmadd_vv_f32m2(p, r, r, vl);
  p = __riscv_vfadd_vf_f32m2(p, 1.0f, vl);
  vint32m2_t bits = __riscv_vsll_vx_i32m2(n, 23, vl);
  bits = __riscv_vadd_vv_i32m2(bits, __riscv_vreinterpret_v_f32m2_i32m2(p), vl);
  return __riscv_vreinterpret_v_i32m2_f32m2(bits);
}

void solution(float X[{{ N }}], float Y[{{ N }}]) {
  for (size_t i = 0; i < {{ N }};) {
    size_t vl = __riscv_vsetvl_e32m2({{ N }} - i);
    vfloat32m2_t x = __riscv_vle32_v_f32m2(&X[i], vl);
    vfloat32m2_t e = exponential(__riscv_vfneg_v_f32m2(__riscv_vfabs_v_f32m2(x, vl), vl), vl);
    vfloat32m2_t small = __riscv_vfdiv_vv_f32m2(e, __riscv_vfadd_vf_f32m2(e, 1.0f, vl), vl);
    vfloat32m2_t large = __riscv_vfrsub_vf_f32m2(small, 1.0f, vl);
    vbool16_t positive = __riscv_vmfgt_vf_f32m2_b16(x, 0.0f, vl);
    __riscv_vse32_v_f32m2(&Y[i], __riscv_vmerge_vvm_f32m2(small, large, positive, vl), vl);
    i += vl;
  }
}
