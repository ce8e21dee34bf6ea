// The dialect that kernels are written in: what CUDA C++ gives them, as far as it is here.
// Every file of a kernel begins with it, for the device and for the host.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
// Aligned, so that neighbouring accesses are seen to be vectors.
#define __shared__ __attribute__((shared)) __attribute__((aligned(16)))
#define __constant__ __attribute__((constant))
#define __managed__ __device__
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
// Calls are dissolved, whatever a kernel says.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __CUDACC__ 1
#define AUTOCOMP_D static __device__ __forceinline__
#define AUTOCOMP_HD static __host__ __device__ __forceinline__

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
#define NULL 0
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX 3.402823466e38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-7f
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define CUDART_INF_F INFINITY
#define CUDART_PI_F 3.141592654f
#define HUGE_VALF INFINITY
#define DBL_MAX 1.7976931348623157e308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define CHAR_BIT 8
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 4294967295u
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
#define SIZE_MAX 18446744073709551615ull
#define M_PI 3.14159265358979323846

// Vectors.
#define AUTOCOMP_VECTORS(T, N, A2, A4) \
  struct N##1 { T x; }; \
  struct __attribute__((aligned(A2))) N##2 { T x, y; }; \
  struct N##3 { T x, y, z; }; \
  struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; }; \
  AUTOCOMP_HD N##1 make_##N##1(T x) { return N##1{x}; } \
  AUTOCOMP_HD N##2 make_##N##2(T x, T y) { return N##2{x, y}; } \
  AUTOCOMP_HD N##3 make_##N##3(T x, T y, T z) { return N##3{x, y, z}; } \
  AUTOCOMP_HD N##4 make_##N##4(T x, T y, T z, T w) { return N##4{x, y, z, w}; }
AUTOCOMP_VECTORS(signed char, char, 2, 4)
AUTOCOMP_VECTORS(unsigned char, uchar, 2, 4)
AUTOCOMP_VECTORS(short, short, 4, 8)
AUTOCOMP_VECTORS(unsigned short, ushort, 4, 8)
AUTOCOMP_VECTORS(int, int, 8, 16)
AUTOCOMP_VECTORS(unsigned, uint, 8, 16)
AUTOCOMP_VECTORS(float, float, 8, 16)
AUTOCOMP_VECTORS(long long, longlong, 16, 16)
AUTOCOMP_VECTORS(unsigned long long, ulonglong, 16, 16)
AUTOCOMP_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

// What the host part may do: launch kernels and ask for memory. Nothing of it runs; all of it
// is written down.
typedef struct CUstream_st* cudaStream_t;
typedef int cudaError_t;
#define cudaSuccess 0
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };
extern "C" {
unsigned cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t autocomp_memory(void** pointer, size_t bytes);
cudaError_t autocomp_free(void* at);
void autocomp_stream(cudaStream_t stream);
cudaError_t autocomp_set(void* to, int value, size_t bytes);
cudaError_t autocomp_copy(void* to, const void* from, size_t bytes);
cudaError_t autocomp_put(const void* to, size_t offset, const void* from, size_t bytes);
cudaError_t autocomp_attribute(const void* kernel, int attribute, int value);
}
template <class T> static __host__ inline cudaError_t cudaMalloc(T** pointer, size_t bytes) { return autocomp_memory((void**)pointer, bytes); }
template <class T> static __host__ inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) { autocomp_stream(stream); return autocomp_memory((void**)pointer, bytes); }
static __host__ inline cudaError_t cudaFree(void* at) { return autocomp_free(at); }
static __host__ inline cudaError_t cudaFreeAsync(void* at, cudaStream_t stream) { autocomp_stream(stream); return autocomp_free(at); }
static __host__ inline cudaError_t cudaMemset(void* to, int value, size_t bytes) { return autocomp_set(to, value, bytes); }
static __host__ inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = 0) { autocomp_stream(stream); return autocomp_set(to, value, bytes); }
static __host__ inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) { return kind == cudaMemcpyHostToDevice ? autocomp_put(to, 0, from, bytes) : autocomp_copy(to, from, bytes); }
static __host__ inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0) { autocomp_stream(stream); return cudaMemcpy(to, from, bytes, kind); }
// Variables of the device have a place in the host part whose name is theirs.
template <class T> static __host__ inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) { return autocomp_put(&symbol, offset, from, bytes); }
template <class T> static __host__ inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) { autocomp_stream(stream); return autocomp_put(&symbol, offset, from, bytes); }
static __host__ inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static __host__ inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
static __host__ inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static __host__ inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
template <class K> static __host__ inline cudaError_t cudaFuncSetAttribute(K* kernel, cudaFuncAttribute attribute, int value) { return autocomp_attribute((const void*)kernel, attribute, value); }

// What the host part may ask: the simulated machine answers.
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
static __host__ inline cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
static __host__ inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : 101; }
static __host__ inline cudaError_t cudaGetDeviceCount(int* count) { *count = 1; return cudaSuccess; }
static __host__ inline const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "error"; }
#ifdef AUTOCOMP_SMS
static __host__ inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return 101;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = 32; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = AUTOCOMP_SMS; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = AUTOCOMP_WARPS * 32; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = AUTOCOMP_CAPABILITY / 10; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = AUTOCOMP_CAPABILITY % 10; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = AUTOCOMP_SHARED; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = AUTOCOMP_BLOCK_SHARED; return cudaSuccess;
  }
  return 1;
}
// By threads and dynamic shared memory alone: registers are not known before the vendor's compiler.
template <class K> static __host__ inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K*, int threads, size_t shared) {
  if (threads < 1 || 1024 < threads) return 1;
  int most = AUTOCOMP_WARPS / ((threads + 31) / 32);
  if (AUTOCOMP_BLOCKS < most) most = AUTOCOMP_BLOCKS;
  // Each block takes a KiB of its own.
  int fit = (int)(AUTOCOMP_SHARED / (shared + 1024));
  *blocks = fit < most ? fit : most;
  return cudaSuccess;
}
#endif
// What checks of errors print goes nowhere; a host part that gives up has crashed.
struct FILE;
#define stderr ((FILE*)0)
template <class... A> static __host__ inline int fprintf(FILE*, const char*, A...) { return 0; }
static __host__ inline void exit(int) { __builtin_trap(); }
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0

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
  AUTOCOMP_D _Float16 NAME(unsigned m, _Float16 v, SECOND o, int w = 32) { \
    return __builtin_bit_cast(_Float16, (unsigned short)NAME(m, (unsigned)__builtin_bit_cast(unsigned short, v), o, w)); \
  }
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

// Bits.
AUTOCOMP_D int __popc(unsigned v) { return __builtin_popcount(v); }
AUTOCOMP_D int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
AUTOCOMP_D int __clz(int v) { return v == 0 ? 32 : __builtin_clz((unsigned)v); }
AUTOCOMP_D int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll((unsigned long long)v); }
AUTOCOMP_D int __ffs(int v) { return __builtin_ffs(v); }
AUTOCOMP_D unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
AUTOCOMP_D unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return __nvvm_prmt(a, b, s); }
AUTOCOMP_D unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return (unsigned)((((unsigned long long)hi << 32 | lo) << (n & 31)) >> 32); }
AUTOCOMP_D unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31)); }
AUTOCOMP_D unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
AUTOCOMP_D int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
AUTOCOMP_D int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
AUTOCOMP_D unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
AUTOCOMP_D float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
AUTOCOMP_D float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
AUTOCOMP_D int __dp4a(int a, int b, int c) { int r; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
AUTOCOMP_D unsigned __dp4a(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }

// Numbers: smaller, larger, magnitude.
#define AUTOCOMP_ORDER(T) \
  AUTOCOMP_HD constexpr T min(T a, T b) { return b < a ? b : a; } \
  AUTOCOMP_HD constexpr T max(T a, T b) { return a < b ? b : a; }
AUTOCOMP_ORDER(int)
AUTOCOMP_ORDER(unsigned)
AUTOCOMP_ORDER(long)
AUTOCOMP_ORDER(unsigned long)
AUTOCOMP_ORDER(long long)
AUTOCOMP_ORDER(unsigned long long)
AUTOCOMP_HD constexpr unsigned min(int a, unsigned b) { return (unsigned)a < b ? (unsigned)a : b; }
AUTOCOMP_HD constexpr unsigned min(unsigned a, int b) { return a < (unsigned)b ? a : (unsigned)b; }
AUTOCOMP_HD constexpr unsigned max(int a, unsigned b) { return (unsigned)a < b ? b : (unsigned)a; }
AUTOCOMP_HD constexpr unsigned max(unsigned a, int b) { return a < (unsigned)b ? (unsigned)b : a; }
AUTOCOMP_HD float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
AUTOCOMP_HD float fminf(float a, float b) { return __builtin_fminf(a, b); }
AUTOCOMP_D double fmax(double a, double b) { return __builtin_fmax(a, b); }
AUTOCOMP_D double fmin(double a, double b) { return __builtin_fmin(a, b); }
AUTOCOMP_D float max(float a, float b) { return fmaxf(a, b); }
AUTOCOMP_D float min(float a, float b) { return fminf(a, b); }
AUTOCOMP_D double max(double a, double b) { return fmax(a, b); }
AUTOCOMP_D double min(double a, double b) { return fmin(a, b); }
AUTOCOMP_HD constexpr int abs(int a) { return a < 0 ? -a : a; }
AUTOCOMP_D float abs(float a) { return __builtin_fabsf(a); }
AUTOCOMP_D float fabsf(float a) { return __builtin_fabsf(a); }
AUTOCOMP_D double fabs(double a) { return __builtin_fabs(a); }
AUTOCOMP_D float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
AUTOCOMP_D bool isnan(float a) { return a != a; }
AUTOCOMP_D bool isinf(float a) { return __builtin_fabsf(a) == INFINITY; }
AUTOCOMP_D bool isfinite(float a) { return __builtin_fabsf(a) < INFINITY; }
AUTOCOMP_D float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AUTOCOMP_D double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
AUTOCOMP_D float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AUTOCOMP_D float floorf(float a) { return __builtin_floorf(a); }
AUTOCOMP_D float ceilf(float a) { return __builtin_ceilf(a); }
AUTOCOMP_D float truncf(float a) { return __builtin_truncf(a); }
AUTOCOMP_D float rintf(float a) { return __builtin_rintf(a); }
AUTOCOMP_D float nearbyintf(float a) { return __builtin_rintf(a); }
AUTOCOMP_D float roundf(float a) { return copysignf(truncf(fabsf(a) + 0.49999997f), a); }
AUTOCOMP_D float fmodf(float a, float b) {
  union autocomp_bits { float f; unsigned u; } x, y;
  x.f = a, y.f = b;
  unsigned ma = x.u & 0x7fffffffu, mb = y.u & 0x7fffffffu, sign = x.u & 0x80000000u;
  if (mb == 0 || 0x7f800000u <= ma || 0x7f800000u < mb) return (a * b) / (a * b);
  if (ma < mb) return a;
  int ea = (int)(ma >> 23), eb = (int)(mb >> 23);
  ma = ea ? (ma & 0x7fffffu) | 0x800000u : (ea = 1, ma);
  mb = eb ? (mb & 0x7fffffu) | 0x800000u : (eb = 1, mb);
  while (ma < 0x800000u) { ma <<= 1; ea--; }
  while (mb < 0x800000u) { mb <<= 1; eb--; }
  /* One bit of the quotient each. */
  for (; eb < ea; ea--) { if (mb <= ma) ma -= mb; ma <<= 1; }
  if (mb <= ma) ma -= mb;
  if (ma != 0) while (ma < 0x800000u) { ma <<= 1; eb--; }
  x.u = sign | (ma == 0 ? 0 : 0 < eb ? (ma & 0x7fffffu) | (unsigned)eb << 23 : ma >> (1 - eb));
  return x.f;
}
AUTOCOMP_D int __float2int_rn(float a) { int r; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D int __float2int_rz(float a) { return (int)a; }
AUTOCOMP_D int __float2int_rd(float a) { int r; asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D int __float2int_ru(float a) { int r; asm("cvt.rpi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D float __int2float_rn(int a) { return (float)a; }
AUTOCOMP_D float __uint2float_rn(unsigned a) { return (float)a; }

// Functions of floats. Those with two underscores in front are the fast ones.
AUTOCOMP_D float autocomp_ex2(float a) { return __nvvm_ex2_approx_f(a); }
AUTOCOMP_D float autocomp_lg2(float a) { return __nvvm_lg2_approx_f(a); }
AUTOCOMP_D float autocomp_rcp(float a) { float r; asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
AUTOCOMP_D float __expf(float a) { return autocomp_ex2(a * 1.4426950408889634f); }
AUTOCOMP_D float __exp10f(float a) { return autocomp_ex2(a * 3.3219280948873623f); }
AUTOCOMP_D float __logf(float a) { return autocomp_lg2(a) * 0.6931471805599453f; }
AUTOCOMP_D float __log2f(float a) { return autocomp_lg2(a); }
AUTOCOMP_D float __log10f(float a) { return autocomp_lg2(a) * 0.30102999566398120f; }
AUTOCOMP_D float __powf(float a, float b) { return autocomp_ex2(b * autocomp_lg2(a)); }
AUTOCOMP_D float __sinf(float a) { return __nvvm_sin_approx_f(a); }
AUTOCOMP_D float __cosf(float a) { return __nvvm_cos_approx_f(a); }
AUTOCOMP_D float __fdividef(float a, float b) { float r; asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
AUTOCOMP_D float __frcp_rn(float a) { return 1.0f / a; }
AUTOCOMP_D float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
AUTOCOMP_D float __frsqrt_rn(float a) { return 1.0f / __nvvm_sqrt_rn_f(a); }
AUTOCOMP_D float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
AUTOCOMP_D float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
AUTOCOMP_D float __saturatef(float a) { return fminf(fmaxf(a, 0.0f), 1.0f); }
AUTOCOMP_D float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
AUTOCOMP_D double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
AUTOCOMP_D float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
AUTOCOMP_D float exp2f(float a) { return autocomp_ex2(a); }
AUTOCOMP_D float expf(float a) {
  float whole = rintf(fminf(fmaxf(a, -110.0f), 90.0f) * 1.4426950408889634f);
  float rest = __builtin_fmaf(whole, -0.693147182464599609375f, a);
  rest = __builtin_fmaf(whole, 1.904654299957767e-9f, rest);
  float power = autocomp_ex2(rest * 1.4426950408889634f);
  float result = power * autocomp_ex2(whole * 0.5f - (whole * 0.5f - rintf(whole * 0.5f))) * autocomp_ex2(whole - rintf(whole * 0.5f));
  return a > 89.0f ? INFINITY : a < -104.0f ? 0.0f : result;
}
AUTOCOMP_D float log2f(float a);
AUTOCOMP_D float logf(float a) {
  float scale = a < 1.17549435e-38f ? 8388608.0f : 1.0f;
  unsigned bits = __float_as_uint(a * scale);
  int exponent = (int)(bits - 0x3f2aaaabu) >> 23;
  float m = __uint_as_float(bits - ((unsigned)exponent << 23)) - 1.0f;
  float e = (float)exponent - (scale != 1.0f ? 23.0f : 0.0f);
  float s = m / (m + 2.0f), t = s * s;
  float p = __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 0.2438f, 0.2857f), 0.4f), 0.66666669f);
  float r = m - s * __builtin_fmaf(-p, t, m);
  r = __builtin_fmaf(e, 0.693147182f, r);
  return a > 0.0f ? (a == INFINITY ? a : r) : a == 0.0f ? -INFINITY : NAN;
}
AUTOCOMP_D float log2f(float a) { return logf(a) * 1.4426950408889634f; }
AUTOCOMP_D float log10f(float a) { return logf(a) * 0.43429448190325182f; }
AUTOCOMP_D float log1pf(float a) { float u = 1.0f + a; return u == 1.0f ? a : logf(u) * (a / (u - 1.0f)); }
AUTOCOMP_D float expm1f(float a) { float u = expf(a); return u == 1.0f ? a : u - 1.0f == -1.0f ? -1.0f : (u - 1.0f) * (a / logf(u)); }
AUTOCOMP_D float powf(float a, float b) {
  float magnitude = expf(b * logf(fabsf(a)));
  bool is_odd = truncf(b) == b && truncf(b * 0.5f) * 2.0f != b;
  if (b == 0.0f) return 1.0f;
  return a < 0.0f ? (truncf(b) != b ? NAN : is_odd ? -magnitude : magnitude) : magnitude;
}
AUTOCOMP_D float tanhf(float a) {
  float m = fabsf(a), t = a * a;
  if (m < 0.55f) return a * __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 0.0208f, -0.0539682541f), 0.1333333333f), -0.3333333433f), 1.0f);
  return copysignf(1.0f - 2.0f / (expf(2.0f * m) + 1.0f), a);
}
AUTOCOMP_D float erff(float a) {
  float m = fabsf(a), t = a * a;
  if (m < 1.0f) {
    float p = 7.8537e-5f;
    p = __builtin_fmaf(p, t, -8.0101e-4f);
    p = __builtin_fmaf(p, t, 5.188327e-3f);
    p = __builtin_fmaf(p, t, -2.6853e-2f);
    p = __builtin_fmaf(p, t, 0.112835f);
    p = __builtin_fmaf(p, t, -0.37612624f);
    p = __builtin_fmaf(p, t, 1.1283791f);
    return a * p;
  }
  float u = 1.0f / __builtin_fmaf(0.3275911f, m, 1.0f);
  float p = __builtin_fmaf(u, __builtin_fmaf(u, __builtin_fmaf(u, __builtin_fmaf(u, 1.061405429f, -1.453152027f), 1.421413741f), -0.284496736f), 0.254829592f) * u;
  return copysignf(1.0f - p * expf(-t), a);
}
AUTOCOMP_D void sincosf(float a, float* s, float* c) {
  float quarter = rintf(a * 0.63661977f);
  float r = __builtin_fmaf(quarter, -1.5707962513f, a);
  r = __builtin_fmaf(quarter, -7.5497894159e-8f, r);
  r = __builtin_fmaf(quarter, -5.3903029534e-15f, r);
  float t = r * r;
  float sine = r + r * t * __builtin_fmaf(t, __builtin_fmaf(t, -1.9515296e-4f, 8.3321609e-3f), -1.6666655e-1f);
  float cosine = __builtin_fmaf(t, __builtin_fmaf(t, __builtin_fmaf(t, 2.4433157e-5f, -1.3887316e-3f), 4.1666646e-2f), -0.5f) * t + 1.0f;
  int q = (int)quarter;
  float x = q & 1 ? cosine : sine, y = q & 1 ? sine : cosine;
  *s = q & 2 ? -x : x;
  *c = (q + 1) & 2 ? -y : y;
}
AUTOCOMP_D float sinf(float a) { float s, c; sincosf(a, &s, &c); return s; }
AUTOCOMP_D float cosf(float a) { float s, c; sincosf(a, &s, &c); return c; }
AUTOCOMP_D float tanf(float a) { float s, c; sincosf(a, &s, &c); return s / c; }
AUTOCOMP_D float coshf(float a) { float e = expf(fabsf(a) - 0.693147181f); return e + 0.25f / e; }
AUTOCOMP_D float sinhf(float a) { return fabsf(a) < 0.3f ? a * (1.0f + a * a * (0.16666667f + a * a * (8.3333333e-3f + a * a * 1.9841270e-4f))) : copysignf(expf(fabsf(a) - 0.693147181f) - 0.25f / expf(fabsf(a) - 0.693147181f), a); }
AUTOCOMP_D float hypotf(float a, float b) {
  float x = fmaxf(fabsf(a), fabsf(b)), y = fminf(fabsf(a), fabsf(b)), t = y / x;
  return x == 0.0f || x == INFINITY ? x : x * sqrtf(__builtin_fmaf(t, t, 1.0f));
}
AUTOCOMP_D float fdimf(float a, float b) { return a != a || b != b ? a + b : b < a ? a - b : 0.0f; }
AUTOCOMP_D float erfcf(float a) { return 1.0f - erff(a); }
AUTOCOMP_D long lrintf(float a) { return (long)__builtin_rintf(a); }
AUTOCOMP_D float modff(float a, float* whole) { *whole = truncf(a); return __builtin_fabsf(a) == INFINITY ? copysignf(0.0f, a) : copysignf(a - *whole, a); }
AUTOCOMP_D bool signbit(float a) { return __float_as_uint(a) >> 31; }
AUTOCOMP_D unsigned __float2uint_rn(float a) { unsigned r; asm("cvt.rni.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
AUTOCOMP_D unsigned __float2uint_rz(float a) { return (unsigned)a; }
AUTOCOMP_D int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
AUTOCOMP_D int __ffsll(long long v) { return __builtin_ffsll(v); }
AUTOCOMP_D unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
AUTOCOMP_D long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
AUTOCOMP_D double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
AUTOCOMP_D double floor(double a) { return __builtin_floor(a); }
AUTOCOMP_D double ceil(double a) { return __builtin_ceil(a); }
AUTOCOMP_D double trunc(double a) { return __builtin_trunc(a); }
AUTOCOMP_D double rint(double a) { return __builtin_rint(a); }
AUTOCOMP_D float floor(float a) { return floorf(a); }
AUTOCOMP_D float ceil(float a) { return ceilf(a); }
AUTOCOMP_D float trunc(float a) { return truncf(a); }
AUTOCOMP_D float rint(float a) { return rintf(a); }
// Of these there are those of floats only: a double is an error, not a float by chance.
#define AUTOCOMP_OF_FLOATS(NAME) \
  AUTOCOMP_D float NAME(float a) { return NAME##f(a); } \
  double NAME(double) = delete;
AUTOCOMP_OF_FLOATS(exp)
AUTOCOMP_OF_FLOATS(exp2)
AUTOCOMP_OF_FLOATS(log)
AUTOCOMP_OF_FLOATS(log2)
AUTOCOMP_OF_FLOATS(sin)
AUTOCOMP_OF_FLOATS(cos)
AUTOCOMP_OF_FLOATS(tanh)
AUTOCOMP_OF_FLOATS(erf)
AUTOCOMP_OF_FLOATS(round)
AUTOCOMP_D float pow(float a, float b) { return powf(a, b); }
double pow(double, double) = delete;

// Halves and brain floats.
typedef _Float16 half;
typedef _Float16 __half;
typedef half half2 __attribute__((ext_vector_type(2)));
typedef half2 __half2;
AUTOCOMP_D half __float2half(float a) { return (half)a; }
AUTOCOMP_D half __float2half_rn(float a) { return (half)a; }
AUTOCOMP_D float __half2float(half a) { return (float)a; }
AUTOCOMP_D half __int2half_rn(int a) { return (half)a; }
AUTOCOMP_D half2 __floats2half2_rn(float a, float b) { half2 r; r.x = (half)a; r.y = (half)b; return r; }
AUTOCOMP_D half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
AUTOCOMP_D half2 __float2half2_rn(float a) { return __floats2half2_rn(a, a); }
AUTOCOMP_D half2 __halves2half2(half a, half b) { half2 r; r.x = a; r.y = b; return r; }
AUTOCOMP_D half2 make_half2(half a, half b) { return __halves2half2(a, b); }
AUTOCOMP_D half2 __half2half2(half a) { return __halves2half2(a, a); }
AUTOCOMP_D float2 __half22float2(half2 a) { return float2{(float)a.x, (float)a.y}; }
AUTOCOMP_D half __low2half(half2 a) { return a.x; }
AUTOCOMP_D half __high2half(half2 a) { return a.y; }
AUTOCOMP_D float __low2float(half2 a) { return (float)a.x; }
AUTOCOMP_D float __high2float(half2 a) { return (float)a.y; }
AUTOCOMP_D half __hadd(half a, half b) { return a + b; }
AUTOCOMP_D half __hsub(half a, half b) { return a - b; }
AUTOCOMP_D half __hmul(half a, half b) { return a * b; }
AUTOCOMP_D half __hdiv(half a, half b) { return a / b; }
AUTOCOMP_D half __hneg(half a) { return -a; }
AUTOCOMP_D half __hfma(half a, half b, half c) { half r; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(*(unsigned short*)&r) : "h"(__builtin_bit_cast(unsigned short, a)), "h"(__builtin_bit_cast(unsigned short, b)), "h"(__builtin_bit_cast(unsigned short, c))); return r; }
AUTOCOMP_D half __hmax(half a, half b) { return a < b ? b : a; }
AUTOCOMP_D half __hmin(half a, half b) { return b < a ? b : a; }
AUTOCOMP_D bool __hgt(half a, half b) { return b < a; }
AUTOCOMP_D bool __hlt(half a, half b) { return a < b; }
AUTOCOMP_D half hexp(half a) { return (half)__expf((float)a); }
AUTOCOMP_D half hsqrt(half a) { return (half)sqrtf((float)a); }
#define AUTOCOMP_PAIR(NAME, OP) \
  AUTOCOMP_D half2 NAME(half2 a, half2 b) { unsigned r; asm(OP " %0, %1, %2;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b))); return __builtin_bit_cast(half2, r); }
AUTOCOMP_PAIR(__hadd2, "add.f16x2")
AUTOCOMP_PAIR(__hsub2, "sub.f16x2")
AUTOCOMP_PAIR(__hmul2, "mul.f16x2")
AUTOCOMP_PAIR(__hmax2, "max.f16x2")
AUTOCOMP_PAIR(__hmin2, "min.f16x2")
AUTOCOMP_D half2 __hfma2(half2 a, half2 b, half2 c) { unsigned r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(__builtin_bit_cast(unsigned, c))); return __builtin_bit_cast(half2, r); }

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __device__ __forceinline__ __nv_bfloat16(float a) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(a)); }
  __device__ __forceinline__ operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
};
struct __attribute__((aligned(4))) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
AUTOCOMP_D __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
AUTOCOMP_D __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
AUTOCOMP_D float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
AUTOCOMP_D __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162{__nv_bfloat16(a), __nv_bfloat16(b)}; }
AUTOCOMP_D float2 __bfloat1622float2(__nv_bfloat162 a) { return float2{(float)a.x, (float)a.y}; }

// Memory.
template <class T> AUTOCOMP_D T __ldg(const T* p) {
  T r;
  if constexpr (sizeof(T) == 16 && alignof(T) == 16) {
    unsigned w[4];
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
    __builtin_memcpy(&r, w, 16);
  } else if constexpr (sizeof(T) == 8 && alignof(T) == 8) {
    unsigned w[2];
    asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p));
    __builtin_memcpy(&r, w, 8);
  } else if constexpr (sizeof(T) == 4 && alignof(T) == 4) {
    unsigned w;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(w) : "l"(p));
    __builtin_memcpy(&r, &w, 4);
  } else {
    r = *p;
  }
  return r;
}
AUTOCOMP_D float __ldg(const float* p) { return __nvvm_ldg_f(p); }
AUTOCOMP_D int __ldg(const int* p) { return __nvvm_ldg_i(p); }
AUTOCOMP_D float4 __ldg(const float4* p) { float4 r; asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(p)); return r; }
template <class T> AUTOCOMP_D T __ldcs(const T* p) { return *p; }
template <class T> AUTOCOMP_D T __ldca(const T* p) { return *p; }
template <class T> AUTOCOMP_D T __ldcg(const T* p) { return *p; }
AUTOCOMP_D float __ldcg(const float* p) { float r; asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(r) : "l"(p)); return r; }
template <class T> AUTOCOMP_D void __stcs(T* p, T v) { *p = v; }
template <class T> AUTOCOMP_D void __stcg(T* p, T v) { *p = v; }
AUTOCOMP_D unsigned __cvta_generic_to_shared(const void* p) { return (unsigned)(size_t)(__attribute__((address_space(3))) const void*)p; }
AUTOCOMP_D size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
AUTOCOMP_D void __pipeline_memcpy_async(void* to, const void* from, size_t bytes) {
  unsigned t = __cvta_generic_to_shared(to);
  if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(t), "l"(from) : "memory");
  else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(t), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(t), "l"(from) : "memory");
}
AUTOCOMP_D void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define __pipeline_wait_prior(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")

// Atomic operations.
#define AUTOCOMP_ATOMIC(NAME, OP, T, C, S) \
  AUTOCOMP_D T NAME(T* p, T v) { T r; asm volatile("atom." OP "." S " %0, [%1], %2;" : "=" C(r) : "l"(p), C(v) : "memory"); return r; }
AUTOCOMP_D int atomicAdd(int* p, int v) { return __nvvm_atom_add_gen_i(p, v); }
AUTOCOMP_D unsigned atomicAdd(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int*)p, (int)v); }
AUTOCOMP_D unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) { return (unsigned long long)__nvvm_atom_add_gen_ll((long long*)p, (long long)v); }
AUTOCOMP_D float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
AUTOCOMP_D double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }
AUTOCOMP_D int atomicSub(int* p, int v) { return atomicAdd(p, -v); }
AUTOCOMP_D unsigned atomicSub(unsigned* p, unsigned v) { return atomicAdd(p, 0u - v); }
AUTOCOMP_ATOMIC(atomicMin, "min", int, "r", "s32")
AUTOCOMP_ATOMIC(atomicMin, "min", unsigned, "r", "u32")
AUTOCOMP_ATOMIC(atomicMax, "max", int, "r", "s32")
AUTOCOMP_ATOMIC(atomicMax, "max", unsigned, "r", "u32")
AUTOCOMP_ATOMIC(atomicMin, "min", unsigned long long, "l", "u64")
AUTOCOMP_ATOMIC(atomicMax, "max", unsigned long long, "l", "u64")
AUTOCOMP_ATOMIC(atomicAnd, "and", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicOr, "or", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicXor, "xor", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicExch, "exch", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicExch, "exch", unsigned, "r", "b32")
AUTOCOMP_ATOMIC(atomicExch, "exch", float, "f", "b32")
AUTOCOMP_ATOMIC(atomicAnd, "and", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicOr, "or", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicXor, "xor", int, "r", "b32")
AUTOCOMP_ATOMIC(atomicAnd, "and", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicOr, "or", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicXor, "xor", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicExch, "exch", unsigned long long, "l", "b64")
AUTOCOMP_ATOMIC(atomicInc, "inc", unsigned, "r", "u32")
AUTOCOMP_ATOMIC(atomicDec, "dec", unsigned, "r", "u32")
AUTOCOMP_D unsigned atomicCAS(unsigned* p, unsigned c, unsigned v) { unsigned r; asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(p), "r"(c), "r"(v) : "memory"); return r; }
AUTOCOMP_D int atomicCAS(int* p, int c, int v) { return (int)atomicCAS((unsigned*)p, (unsigned)c, (unsigned)v); }
AUTOCOMP_D unsigned long long atomicCAS(unsigned long long* p, unsigned long long c, unsigned long long v) { unsigned long long r; asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(r) : "l"(p), "l"(c), "l"(v) : "memory"); return r; }
AUTOCOMP_D long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
AUTOCOMP_D int clock() { return __nvvm_read_ptx_sreg_clock(); }

// Products of small matrices.
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment;
template <class Use, int M, int N, class Layout> struct fragment<Use, M, N, 16, half, Layout> {
  static constexpr int num_elements = 16;
  half x[16];
};
template <int M, int N> struct fragment<accumulator, M, N, 16, float, void> {
  static constexpr int num_elements = 8;
  float x[8];
};
template <int M, int N> struct fragment<accumulator, M, N, 16, half, void> {
  static constexpr int num_elements = 8;
  half x[8];
};
template <int M, int N, class T> AUTOCOMP_D void fill_fragment(fragment<accumulator, M, N, 16, T>& f, T v) { for (int i = 0; i < 8; i++) f.x[i] = v; }
#define AUTOCOMP_LOAD(M, N, SHAPE, USE, LAYOUT, P, L) \
  AUTOCOMP_D void load_matrix_sync(fragment<USE, M, N, 16, half, LAYOUT>& f, const half* p, unsigned stride) { \
    unsigned* r = (unsigned*)f.x; \
    asm volatile("wmma.load." P ".sync.aligned." L "." SHAPE ".f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) \
                 : "l"(p), "r"(stride) : "memory"); \
  }
#define AUTOCOMP_PRODUCT(M, N, SHAPE, LA, LB, A, B) \
  AUTOCOMP_D void mma_sync(fragment<accumulator, M, N, 16, float>& d, const fragment<matrix_a, M, N, 16, half, LA>& a, \
                           const fragment<matrix_b, M, N, 16, half, LB>& b, const fragment<accumulator, M, N, 16, float>& c) { \
    const unsigned *x = (const unsigned*)a.x, *y = (const unsigned*)b.x; \
    asm volatile("wmma.mma.sync.aligned." A "." B "." SHAPE ".f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, " \
                 "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, " \
                 "{%24, %25, %26, %27, %28, %29, %30, %31};" \
                 : "=f"(d.x[0]), "=f"(d.x[1]), "=f"(d.x[2]), "=f"(d.x[3]), "=f"(d.x[4]), "=f"(d.x[5]), "=f"(d.x[6]), "=f"(d.x[7]) \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), \
                   "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]), \
                   "f"(c.x[0]), "f"(c.x[1]), "f"(c.x[2]), "f"(c.x[3]), "f"(c.x[4]), "f"(c.x[5]), "f"(c.x[6]), "f"(c.x[7])); \
  }
#define AUTOCOMP_STORE(M, N, SHAPE) \
  AUTOCOMP_D void store_matrix_sync(float* p, const fragment<accumulator, M, N, 16, float>& f, unsigned stride, layout_t layout) { \
    if (layout == mem_row_major) \
      asm volatile("wmma.store.d.sync.aligned.row." SHAPE ".f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;" \
                   :: "f"(f.x[0]), "f"(f.x[1]), "f"(f.x[2]), "f"(f.x[3]), "f"(f.x[4]), "f"(f.x[5]), "f"(f.x[6]), "f"(f.x[7]), "l"(p), "r"(stride) : "memory"); \
    else \
      asm volatile("wmma.store.d.sync.aligned.col." SHAPE ".f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;" \
                   :: "f"(f.x[0]), "f"(f.x[1]), "f"(f.x[2]), "f"(f.x[3]), "f"(f.x[4]), "f"(f.x[5]), "f"(f.x[6]), "f"(f.x[7]), "l"(p), "r"(stride) : "memory"); \
  }
#define AUTOCOMP_SHAPE(M, N, SHAPE) \
  AUTOCOMP_LOAD(M, N, SHAPE, matrix_a, row_major, "a", "row") \
  AUTOCOMP_LOAD(M, N, SHAPE, matrix_a, col_major, "a", "col") \
  AUTOCOMP_LOAD(M, N, SHAPE, matrix_b, row_major, "b", "row") \
  AUTOCOMP_LOAD(M, N, SHAPE, matrix_b, col_major, "b", "col") \
  AUTOCOMP_PRODUCT(M, N, SHAPE, row_major, row_major, "row", "row") \
  AUTOCOMP_PRODUCT(M, N, SHAPE, row_major, col_major, "row", "col") \
  AUTOCOMP_PRODUCT(M, N, SHAPE, col_major, row_major, "col", "row") \
  AUTOCOMP_PRODUCT(M, N, SHAPE, col_major, col_major, "col", "col") \
  AUTOCOMP_STORE(M, N, SHAPE)
AUTOCOMP_SHAPE(16, 16, "m16n16k16")
AUTOCOMP_SHAPE(32, 8, "m32n8k16")
AUTOCOMP_SHAPE(8, 32, "m8n32k16")
}  // namespace wmma
}  // namespace nvcuda

// Groups of threads: those of a block and parts of a warp.
namespace cooperative_groups {
struct thread_block {
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  __device__ __forceinline__ unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  __device__ __forceinline__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ __forceinline__ unsigned num_threads() const { return size(); }
  __device__ __forceinline__ dim3 group_index() const { return blockIdx; }
  __device__ __forceinline__ dim3 thread_index() const { return threadIdx; }
};
AUTOCOMP_D thread_block this_thread_block() { return thread_block(); }
template <unsigned N> struct thread_block_tile {
  static __device__ __forceinline__ unsigned lane() { return this_thread_block().thread_rank() % 32; }
  __device__ __forceinline__ unsigned mask() const { return N == 32 ? 0xffffffffu : ((1u << (N % 32)) - 1) << (lane() / N * N); }
  __device__ __forceinline__ unsigned thread_rank() const { return lane() % N; }
  __device__ __forceinline__ unsigned size() const { return N; }
  __device__ __forceinline__ unsigned num_threads() const { return N; }
  __device__ __forceinline__ unsigned meta_group_rank() const { return this_thread_block().thread_rank() / N; }
  __device__ __forceinline__ unsigned meta_group_size() const { return (this_thread_block().size() + N - 1) / N; }
  __device__ __forceinline__ void sync() const { __syncwarp(mask()); }
  template <class T> __device__ __forceinline__ T shfl(T v, int from) const { return __shfl_sync(mask(), v, from, N); }
  template <class T> __device__ __forceinline__ T shfl_down(T v, unsigned by) const { return __shfl_down_sync(mask(), v, by, N); }
  template <class T> __device__ __forceinline__ T shfl_up(T v, unsigned by) const { return __shfl_up_sync(mask(), v, by, N); }
  template <class T> __device__ __forceinline__ T shfl_xor(T v, int by) const { return __shfl_xor_sync(mask(), v, by, N); }
  __device__ __forceinline__ int any(int p) const { return (__ballot_sync(mask(), p) & mask()) != 0; }
  __device__ __forceinline__ int all(int p) const { return (__ballot_sync(mask(), p) & mask()) == mask(); }
};
template <unsigned N> AUTOCOMP_D thread_block_tile<N> tiled_partition(thread_block) { return thread_block_tile<N>(); }
AUTOCOMP_D void sync(thread_block b) { b.sync(); }
// The threads of a warp that come here together.
struct coalesced_group {
  unsigned mask;
  static __device__ __forceinline__ unsigned lane() { return this_thread_block().thread_rank() % 32; }
  // The lane of the thread `rank`.
  __device__ __forceinline__ int nth(unsigned rank) const {
    unsigned rest = mask;
    for (; rank && rest; rank--) rest &= rest - 1;
    return rest ? __ffs(rest) - 1 : (int)lane();
  }
  __device__ __forceinline__ unsigned thread_rank() const { return __popc(mask & ((1u << lane()) - 1)); }
  __device__ __forceinline__ unsigned size() const { return __popc(mask); }
  __device__ __forceinline__ unsigned num_threads() const { return size(); }
  __device__ __forceinline__ void sync() const { __syncwarp(mask); }
  template <class T> __device__ __forceinline__ T shfl(T v, unsigned from) const { return __shfl_sync(mask, v, nth(from % size())); }
  template <class T> __device__ __forceinline__ T shfl_down(T v, unsigned by) const {
    return __shfl_sync(mask, v, thread_rank() + by < size() ? nth(thread_rank() + by) : (int)lane());
  }
  template <class T> __device__ __forceinline__ T shfl_up(T v, unsigned by) const {
    return __shfl_sync(mask, v, by <= thread_rank() ? nth(thread_rank() - by) : (int)lane());
  }
  __device__ __forceinline__ int any(int p) const { return __any_sync(mask, p); }
  __device__ __forceinline__ int all(int p) const { return __all_sync(mask, p); }
  __device__ __forceinline__ unsigned ballot(int p) const {
    unsigned lanes = __ballot_sync(mask, p), ranks = 0, rank = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1, rank++) ranks |= (lanes >> (__ffs(rest) - 1) & 1u) << rank;
    return ranks;
  }
};
AUTOCOMP_D coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }
template <class T> struct plus { __device__ __forceinline__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct greater { __device__ __forceinline__ T operator()(T a, T b) const { return max(a, b); } };
template <class T> struct less { __device__ __forceinline__ T operator()(T a, T b) const { return min(a, b); } };
template <unsigned N, class T, class F> AUTOCOMP_D T reduce(thread_block_tile<N> tile, T v, F f) {
  for (unsigned o = N / 2; o; o /= 2) v = f(v, tile.shfl_xor(v, o));
  return v;
}
}  // namespace cooperative_groups

#pragma GCC diagnostic ignored "-Wunused-function"
