static inline vector_fLANES each_fabsf_LANES(vector_fLANES x) { return __builtin_elementwise_abs(x); }
