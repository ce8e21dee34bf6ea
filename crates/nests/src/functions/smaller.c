static inline vector_fLANES each_smaller_LANES(vector_fLANES one, vector_fLANES other) {
#ifdef __riscv_vector
  return __builtin_elementwise_min(one, other);
#else
  return each_chosen_LANES(one < other, one, other);
#endif
}
