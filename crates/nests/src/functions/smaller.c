static inline vector_fLANES each_smaller_LANES(vector_fLANES one, vector_fLANES other) {
  return each_chosen_LANES(one < other, one, other);
}
