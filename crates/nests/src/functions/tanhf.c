// 1 - 2 / (e^2x + 1), and the first terms of the series where that cancels.
static inline vector_fLANES each_tanhf_LANES(vector_fLANES x) {
  vector_fLANES a = each_fabsf_LANES(x), ten = (vector_fLANES){0} + 10.0f;
  vector_fLANES e = each_expf_LANES(2.0f * each_smaller_LANES(ten, a));
#ifdef __riscv_vector
  vector_fLANES far = 1.0f - 2.0f * each_reciprocal_LANES(e + 1.0f);
#else
  vector_fLANES far = 1.0f - 2.0f / (e + 1.0f);
#endif
  vector_fLANES s = x * x;
  vector_fLANES near = each_step_LANES((vector_fLANES){0} + 0.0218694885f, s, -0.0539682540f);
  near = each_step_LANES(near, s, 0.133333333f);
  near = each_step_LANES(near, s, -0.333333333f);
  near = a * each_step_LANES(near, s, 1.0f);
  vector_iLANES sign = (vector_iLANES)x & (int32_t)0x80000000;
  return (vector_fLANES)((vector_iLANES)each_chosen_LANES(a < 0.35f, near, far) | sign);
}
