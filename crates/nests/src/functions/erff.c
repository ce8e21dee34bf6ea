// A quotient of polynomials in x^2, within a few units in the last place; beyond
// 4 the value is 1.
static inline vector_fLANES each_erff_LANES(vector_fLANES x) {
  vector_fLANES far = (vector_fLANES){0} + 4.0f;
  vector_fLANES y = each_larger_LANES(-far, each_smaller_LANES(far, x));
  vector_fLANES t = y * y;
  vector_fLANES p = each_step_LANES((vector_fLANES){0} - 1.3204712e-8f, t, 4.6852701e-6f);
  p = each_step_LANES(p, t, 3.7962687e-4f);
  p = each_step_LANES(p, t, 3.8496393e-3f);
  p = each_step_LANES(p, t, 5.4317247e-2f);
  p = each_step_LANES(p, t, 0.18520252f);
  p = each_step_LANES(p, t, 1.1283792f);
  vector_fLANES q = each_step_LANES((vector_fLANES){0} + 6.3115265e-5f, t, 1.3075998e-3f);
  q = each_step_LANES(q, t, 1.5462208e-2f);
  q = each_step_LANES(q, t, 0.11395851f);
  q = each_step_LANES(q, t, 0.4974649f);
  q = each_step_LANES(q, t, 1.0f);
#ifdef __riscv_vector
  return y * p * each_reciprocal_LANES(q);
#else
  return y * p / q;
#endif
}
