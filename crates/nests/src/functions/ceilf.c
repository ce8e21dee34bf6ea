static inline vector_fLANES each_ceilf_LANES(vector_fLANES x) { return __builtin_elementwise_ceil(x); }
