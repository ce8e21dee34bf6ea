static inline vector_fLANES each_sqrtf_LANES(vector_fLANES x) { return __builtin_elementwise_sqrt(x); }
