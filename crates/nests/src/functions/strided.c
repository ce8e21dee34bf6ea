static inline VECTOR each_KIND_LANES_apart(const KIND *first, int stride) {
#if __has_builtin(__builtin_masked_gather)
  typedef int32_t places __attribute__((ext_vector_type(LANES)));
  typedef KIND values __attribute__((ext_vector_type(LANES)));
  typedef _Bool all __attribute__((ext_vector_type(LANES)));
  places at = {NUMBERS};
  values found = __builtin_masked_gather((all)-1, at * stride, first);
  return (VECTOR)found;
#else
  return (VECTOR){ELEMENTS};
#endif
}
