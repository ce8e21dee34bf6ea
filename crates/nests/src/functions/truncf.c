static inline vector_fLANES each_truncf_LANES(vector_fLANES x) { return __builtin_elementwise_trunc(x); }
