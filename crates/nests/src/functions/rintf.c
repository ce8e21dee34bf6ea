static inline vector_fLANES each_rintf_LANES(vector_fLANES x) { return __builtin_elementwise_rint(x); }
