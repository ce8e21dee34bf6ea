// A quotient of polynomials in x^2, within a few units in the last place; beyond
// 4 the value is 1.
static inline vector_fLANES each_erff_LANES(vector_fLANES x) {
  vector_fLANES far = (vector_fLANES){0} + 4.0f;
  vector_fLANES y = each_chosen_LANES(x < far, x, far);
  y = each_chosen_LANES(y > -far, y, -far);
  vector_fLANES t = y * y;
  vector_fLANES p = t * -1.3204712e-8f + 4.6852701e-6f;
  p = p * t + 3.7962687e-4f;
  p = p * t + 3.8496393e-3f;
  p = p * t + 5.4317247e-2f;
  p = p * t + 0.18520252f;
  p = p * t + 1.1283792f;
  vector_fLANES q = t * 6.3115265e-5f + 1.3075998e-3f;
  q = q * t + 1.5462208e-2f;
  q = q * t + 0.11395851f;
  q = q * t + 0.4974649f;
  q = q * t + 1.0f;
  return y * p / q;
}
