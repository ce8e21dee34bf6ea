// Where a thread is.
#define AUTOCOMP_INDEX(NAME, REGISTER, LOW) \
  struct autocomp_##NAME { \
    __declspec(property(get = get_x)) unsigned x; \
    __declspec(property(get = get_y)) unsigned y; \
    __declspec(property(get = get_z)) unsigned z; \
    AUTOCOMP_GET(x, REGISTER) AUTOCOMP_GET(y, REGISTER) AUTOCOMP_GET(z, REGISTER) \
    __device__ __forceinline__ operator dim3() const { return dim3(x, y, z); } \
    __device__ __forceinline__ operator uint3() const { return uint3{x, y, z}; } \
  }; \
  extern const __device__ __attribute__((weak)) autocomp_##NAME NAME;
#define AUTOCOMP_GET(D, REGISTER) \
  __device__ __forceinline__ unsigned get_##D() const { return __nvvm_read_ptx_sreg_##REGISTER##_##D(); }
AUTOCOMP_INDEX(threadIdx, tid, 0)
AUTOCOMP_INDEX(blockIdx, ctaid, 0)
AUTOCOMP_INDEX(blockDim, ntid, 1)
AUTOCOMP_INDEX(gridDim, nctaid, 1)
#define warpSize 32

// Meetings and fences.
AUTOCOMP_D int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
AUTOCOMP_D int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
AUTOCOMP_D int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
AUTOCOMP_D void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
AUTOCOMP_D void __threadfence() { __nvvm_membar_gl(); }
AUTOCOMP_D void __threadfence_block() { __nvvm_membar_cta(); }
AUTOCOMP_D void __threadfence_system() { __nvvm_membar_sys(); }
AUTOCOMP_D void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }
AUTOCOMP_D void __trap() { __builtin_trap(); }
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())

// Warps.
AUTOCOMP_D int __any_sync(unsigned m, int p) { return __nvvm_vote_any_sync(m, p != 0); }
AUTOCOMP_D int __all_sync(unsigned m, int p) { return __nvvm_vote_all_sync(m, p != 0); }
AUTOCOMP_D unsigned __ballot_sync(unsigned m, int p) { return __nvvm_vote_ballot_sync(m, p != 0); }
AUTOCOMP_D unsigned __activemask() { return __nvvm_activemask(); }
AUTOCOMP_D int autocomp_clamp(int width) { return ((32 - width) << 8) | 31; }
#define AUTOCOMP_SHUFFLE(NAME, MODE, SECOND, CLAMP) \
  AUTOCOMP_D int NAME(unsigned m, int v, SECOND o, int w = 32) { return __nvvm_shfl_sync_##MODE##_i32(m, v, o, CLAMP); } \
  AUTOCOMP_D unsigned NAME(unsigned m, unsigned v, SECOND o, int w = 32) { return (unsigned)__nvvm_shfl_sync_##MODE##_i32(m, (int)v, o, CLAMP); } \
  AUTOCOMP_D float NAME(unsigned m, float v, SECOND o, int w = 32) { return __nvvm_shfl_sync_##MODE##_f32(m, v, o, CLAMP); } \
  AUTOCOMP_D unsigned long long NAME(unsigned m, unsigned long long v, SECOND o, int w = 32) { \
    unsigned low = NAME(m, (unsigned)v, o, w), high = NAME(m, (unsigned)(v >> 32), o, w); \
    return (unsigned long long)high << 32 | low; \
  } \
  AUTOCOMP_D long long NAME(unsigned m, long long v, SECOND o, int w = 32) { return (long long)NAME(m, (unsigned long long)v, o, w); } \
  AUTOCOMP_D double NAME(unsigned m, double v, SECOND o, int w = 32) { \
    return __builtin_bit_cast(double, NAME(m, __builtin_bit_cast(unsigned long long, v), o, w)); \
  } \
  AUTOCOMP_D long NAME(unsigned m, long v, SECOND o, int w = 32) { return (long)NAME(m, (unsigned long long)v, o, w); } \
  AUTOCOMP_D unsigned long NAME(unsigned m, unsigned long v, SECOND o, int w = 32) { return (unsigned long)NAME(m, (unsigned long long)v, o, w); }
AUTOCOMP_SHUFFLE(__shfl_sync, idx, int, autocomp_clamp(w))
AUTOCOMP_SHUFFLE(__shfl_up_sync, up, unsigned, ((32 - w) << 8))
AUTOCOMP_SHUFFLE(__shfl_down_sync, down, unsigned, autocomp_clamp(w))
AUTOCOMP_SHUFFLE(__shfl_xor_sync, bfly, int, autocomp_clamp(w))
AUTOCOMP_D unsigned __match_any_sync(unsigned m, unsigned v) { unsigned r; asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(m)); return r; }
AUTOCOMP_D unsigned __match_any_sync(unsigned m, int v) { return __match_any_sync(m, (unsigned)v); }
AUTOCOMP_D unsigned __match_any_sync(unsigned m, float v) { return __match_any_sync(m, __builtin_bit_cast(unsigned, v)); }
AUTOCOMP_D unsigned __match_any_sync(unsigned m, unsigned long long v) { unsigned r; asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(m)); return r; }
AUTOCOMP_D unsigned __match_any_sync(unsigned m, long long v) { return __match_any_sync(m, (unsigned long long)v); }
AUTOCOMP_D unsigned __match_all_sync(unsigned m, unsigned v, int* p) { return __nvvm_match_all_sync_i32p(m, v, p); }
AUTOCOMP_D unsigned __match_all_sync(unsigned m, int v, int* p) { return __match_all_sync(m, (unsigned)v, p); }
AUTOCOMP_D unsigned __match_all_sync(unsigned m, float v, int* p) { return __match_all_sync(m, __builtin_bit_cast(unsigned, v), p); }
AUTOCOMP_D unsigned __match_all_sync(unsigned m, unsigned long long v, int* p) { return __nvvm_match_all_sync_i64p(m, v, p); }
AUTOCOMP_D unsigned __match_all_sync(unsigned m, long long v, int* p) { return __match_all_sync(m, (unsigned long long)v, p); }
#define AUTOCOMP_REDUCE(NAME, OP, T, S) \
  AUTOCOMP_D T NAME(unsigned m, T v) { T r; asm volatile("redux.sync." OP "." S " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(m)); return r; }
AUTOCOMP_REDUCE(__reduce_add_sync, "add", unsigned, "u32")
AUTOCOMP_REDUCE(__reduce_min_sync, "min", unsigned, "u32")
AUTOCOMP_REDUCE(__reduce_max_sync, "max", unsigned, "u32")
AUTOCOMP_REDUCE(__reduce_add_sync, "add", int, "s32")
AUTOCOMP_REDUCE(__reduce_min_sync, "min", int, "s32")
AUTOCOMP_REDUCE(__reduce_max_sync, "max", int, "s32")
AUTOCOMP_REDUCE(__reduce_and_sync, "and", unsigned, "b32")
AUTOCOMP_REDUCE(__reduce_or_sync, "or", unsigned, "b32")
AUTOCOMP_REDUCE(__reduce_xor_sync, "xor", unsigned, "b32")
