// A guess from the exponent, and three steps of Newton's method; numbers beyond 2^125 count as that.
static inline vector_fLANES each_reciprocal_LANES(vector_fLANES x) {
#ifdef __riscv_vector
#pragma clang fp contract(off)
#endif
  vector_fLANES far = (vector_fLANES){0} + 0x1p125f;
  x = each_larger_LANES(-far, each_smaller_LANES(far, x));
  vector_fLANES y = (vector_fLANES)(0x7ef311c7 - (vector_iLANES)x);
  y = y * (2.0f - x * y);
  y = y * (2.0f - x * y);
  return y * (2.0f - x * y);
}
