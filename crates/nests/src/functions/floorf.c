static inline vector_fLANES each_floorf_LANES(vector_fLANES x) { return __builtin_elementwise_floor(x); }
