// Rows at unit stride: the greater of two rows, as pairs of 64 bits, whose halves are cut out and
// compared. The rows of the next result are loaded before that.
static inline vfloat32m4_t rows(const float *upper, const float *lower, size_t n) {
  return __riscv_vfmax_vv_f32m4(__riscv_vle32_v_f32m4(upper, n), __riscv_vle32_v_f32m4(lower, n), n);
}

static inline vfloat32m2_t halves(vfloat32m4_t both, size_t vl) {
  vuint64m4_t pairs = __riscv_vreinterpret_v_u32m4_u64m4(__riscv_vreinterpret_v_f32m4_u32m4(both));
  vfloat32m2_t left = __riscv_vreinterpret_v_u32m2_f32m2(__riscv_vnsrl_wx_u32m2(pairs, 0, vl));
  vfloat32m2_t right = __riscv_vreinterpret_v_u32m2_f32m2(__riscv_vnsrl_wx_u32m2(pairs, 32, vl));
  return __riscv_vfmax_vv_f32m2(left, right, vl);
}

void solution(float X[{{ M }}][{{ N }}], float Y[{{ M // 2 }}][{{ N // 2 }}]) {
  for (size_t j = 0; j < {{ N // 2 }};) {
    size_t vl = __riscv_vsetvl_e32m2({{ N // 2 }} - j);
    vfloat32m4_t next = rows(&X[0][2 * j], &X[1][2 * j], 2 * vl);
    for (int i = 0; i < {{ M // 2 }}; i++) {
      vfloat32m4_t both = next;
      int ahead = i + 1 < {{ M // 2 }} ? i + 1 : i;
      vfloat32m4_t upper = __riscv_vle32_v_f32m4(&X[2 * ahead][2 * j], 2 * vl);
      vfloat32m4_t lower = __riscv_vle32_v_f32m4(&X[2 * ahead + 1][2 * j], 2 * vl);
      __riscv_vse32_v_f32m2(&Y[i][j], halves(both, vl), vl);
      next = __riscv_vfmax_vv_f32m4(upper, lower, 2 * vl);
    }
    j += vl;
  }
}
