// e^x by 2^n times a polynomial of the rest, for x whose power is a normal number; of the nearest such
// power beyond. Adding `magic` rounds to whole numbers, which are the low bits of the sum then.
static inline vfloat32GROUP_t each_expf_GROUP(vfloat32GROUP_t x, vfloat32GROUP_t one, vfloat32GROUP_t c2, vfloat32GROUP_t c3, size_t n) {
  const float magic = 12582912.0f;
  x = __riscv_vfmin_vf_f32GROUP(__riscv_vfmax_vf_f32GROUP(x, -87.3f, n), 88.7f, n);
  vfloat32GROUP_t moved = __riscv_vfadd_vf_f32GROUP(__riscv_vfmul_vf_f32GROUP(x, 1.44269504f, n), magic, n);
  vfloat32GROUP_t whole = __riscv_vfsub_vf_f32GROUP(moved, magic, n);
  x = __riscv_vfmacc_vf_f32GROUP(x, -0.693359375f, whole, n);
  x = __riscv_vfmacc_vf_f32GROUP(x, 2.12194440e-4f, whole, n);
  vfloat32GROUP_t p = __riscv_vfadd_vf_f32GROUP(__riscv_vfmul_vf_f32GROUP(x, 8.312501e-3f, n), 4.1890331e-2f, n);
  p = __riscv_vfmadd_vv_f32GROUP(p, x, c3, n);
  p = __riscv_vfmadd_vv_f32GROUP(p, x, c2, n);
  p = __riscv_vfmadd_vv_f32GROUP(p, x, one, n);
  p = __riscv_vfmadd_vv_f32GROUP(p, x, one, n);
  vint32GROUP_t power = __riscv_vsll_vx_i32GROUP(__riscv_vreinterpret_v_f32GROUP_i32GROUP(moved), 23, n);
  power = __riscv_vadd_vv_i32GROUP(power, __riscv_vreinterpret_v_f32GROUP_i32GROUP(p), n);
  return __riscv_vreinterpret_v_i32GROUP_f32GROUP(power);
}
