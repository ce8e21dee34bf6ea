static inline vector_fLANES each_larger_LANES(vector_fLANES one, vector_fLANES other) {
#ifdef __riscv_vector
  return __builtin_elementwise_max(one, other);
#else
  return each_chosen_LANES(one > other, one, other);
#endif
}
