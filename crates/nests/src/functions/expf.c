// e^x = 2^n e^r with x = n ln 2 + r, and a polynomial for e^r.
static inline vector_fLANES each_expf_LANES(vector_fLANES x) {
  vector_fLANES low = (vector_fLANES){0} - 87.3f, high = (vector_fLANES){0} + 88.7f;
  vector_fLANES y = each_chosen_LANES(x < low, low, each_chosen_LANES(x > high, high, x));
  vector_fLANES n = y * 1.44269504088896341f + 12582912.0f;
  vector_iLANES bits = (vector_iLANES)n - 0x4b400000;
  n -= 12582912.0f;
  vector_fLANES r = y - n * 0.693359375f;
  r -= n * -2.12194440e-4f;
  vector_fLANES p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // In two factors: the largest n is one more than an exponent can be.
  vector_iLANES half = bits >> 1;
  vector_fLANES a = (vector_fLANES)((half + 127) << 23);
  vector_fLANES b = (vector_fLANES)((bits - half + 127) << 23);
  vector_fLANES result = p * a * b;
  result = each_chosen_LANES(x > high + 0.03f, (vector_fLANES){0} + INFINITY, result);
  return each_chosen_LANES(x < low - 16.7f, (vector_fLANES){0}, result);
}
