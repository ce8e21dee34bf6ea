// Four rows side by side, so that what is gathered for one arrives while another is summed.
static inline vuint32m4_t places(const uint32_t *at, size_t vl) {
  return __riscv_vmul_vx_u32m4(__riscv_vle32_v_u32m4(at, vl), 4, vl);
}

static inline vfloat32m1_t sum(vfloat32m1_t before, vfloat32m4_t x, const float *v, size_t vl) {
  vfloat32m4_t products = __riscv_vfmul_vv_f32m4(x, __riscv_vle32_v_f32m4(v, vl), vl);
  return __riscv_vfredusum_vs_f32m4_f32m1(products, before, vl);
}

void solution(float V[{{ M }}][{{ K }}], uint32_t I[{{ M }}][{{ K }}], float X[{{ N }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i += 4) {
    int i1 = i + 1 < {{ M }} ? i + 1 : {{ M - 1 }};
    int i2 = i + 2 < {{ M }} ? i + 2 : {{ M - 1 }};
    int i3 = i + 3 < {{ M }} ? i + 3 : {{ M - 1 }};
    vfloat32m1_t s0 = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    vfloat32m1_t s1 = s0, s2 = s0, s3 = s0;
    for (size_t k = 0; k < {{ K }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ K }} - k);
      vuint32m4_t p0 = places(&I[i][k], vl);
      vuint32m4_t p1 = places(&I[i1][k], vl);
      vuint32m4_t p2 = places(&I[i2][k], vl);
      vuint32m4_t p3 = places(&I[i3][k], vl);
      vfloat32m4_t x0 = __riscv_vluxei32_v_f32m4(X, p0, vl);
      vfloat32m4_t x1 = __riscv_vluxei32_v_f32m4(X, p1, vl);
      s0 = sum(s0, x0, &V[i][k], vl);
      vfloat32m4_t x2 = __riscv_vluxei32_v_f32m4(X, p2, vl);
      s1 = sum(s1, x1, &V[i1][k], vl);
      vfloat32m4_t x3 = __riscv_vluxei32_v_f32m4(X, p3, vl);
      s2 = sum(s2, x2, &V[i2][k], vl);
      s3 = sum(s3, x3, &V[i3][k], vl);
      k += vl;
    }
    __riscv_vse32_v_f32m1(&Y[i], s0, 1);
    __riscv_vse32_v_f32m1(&Y[i1], s1, 1);
    __riscv_vse32_v_f32m1(&Y[i2], s2, 1);
    __riscv_vse32_v_f32m1(&Y[i3], s3, 1);
  }
}
