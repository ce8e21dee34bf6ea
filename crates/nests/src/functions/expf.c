// e^x = (2^n e^r)^2 with x / 2 = n ln 2 + r, and a polynomial for e^r. 2^n is a number for every x
// that is not cut off, and the square may be zero or infinite.
static inline vector_fLANES each_expf_LANES(vector_fLANES x) {
  vector_fLANES low = (vector_fLANES){0} - 104.0f, high = (vector_fLANES){0} + 89.0f;
  vector_fLANES y = 0.5f * each_smaller_LANES(high, each_larger_LANES(low, x));
  // The last bits of this sum are n + 127.
  vector_fLANES n = each_step_LANES(y, (vector_fLANES){0} + 1.44269504088896341f, 12583039.0f);
  vector_fLANES power = (vector_fLANES)((vector_iLANES)n << 23);
  n -= 12583039.0f;
  vector_fLANES r = y - n * 0.693359375f;
  r -= n * -2.12194440e-4f;
  vector_fLANES p = each_step_LANES((vector_fLANES){0} + 1.9875691500e-4f, r, 1.3981999507e-3f);
  p = each_step_LANES(p, r, 8.3334519073e-3f);
  p = each_step_LANES(p, r, 4.1665795894e-2f);
  p = each_step_LANES(p, r, 1.6666665459e-1f);
  p = each_step_LANES(p, r, 5.0000001201e-1f);
  p = (p * r * r + r + 1.0f) * power;
#ifdef __riscv_vector
  // The greater and the lesser of two leave out what is not a number.
  return each_chosen_LANES(x == x, p * p, x);
#else
  return p * p;
#endif
}
