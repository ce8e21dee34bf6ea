static inline vector_fLANES each_chosen_LANES(vector_iLANES mask, vector_fLANES one, vector_fLANES other) {
  return (vector_fLANES)(((vector_iLANES)one & mask) | ((vector_iLANES)other & ~mask));
}
