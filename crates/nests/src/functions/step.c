// One more term of a polynomial.
static inline vector_fLANES each_step_LANES(vector_fLANES p, vector_fLANES x, float constant) {
#ifdef __riscv_vector
#pragma clang fp contract(off)
#endif
  return p * x + constant;
}
