// One more term of a polynomial. On RISC-V a vector of the constant costs more than a sum of its own.
static inline vector_fLANES each_step_LANES(vector_fLANES p, vector_fLANES x, float constant) {
#ifdef __riscv_vector
#pragma clang fp contract(off)
#endif
  return p * x + constant;
}
