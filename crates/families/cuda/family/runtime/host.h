// What the host part may do: launch kernels and ask for memory. Nothing of it runs; all of it
// is written down.
typedef struct CUstream_st* cudaStream_t;
typedef int cudaError_t;
#define cudaSuccess 0
enum cudaSharedCarveout { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
extern "C" {
unsigned cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t autocomp_memory(void** pointer, size_t bytes);
cudaError_t autocomp_free(void* at);
void autocomp_stream(cudaStream_t stream);
cudaError_t autocomp_set(void* to, int value, size_t bytes);
cudaError_t autocomp_copy(const void* to, size_t behind, const void* from, size_t skipped, size_t bytes);
cudaError_t autocomp_put(const void* to, size_t offset, const void* from, size_t bytes);
cudaError_t autocomp_get();
cudaError_t autocomp_attribute(const void* kernel, int attribute, int value);
}
template <class T> static __host__ inline cudaError_t cudaMalloc(T** pointer, size_t bytes) { return autocomp_memory((void**)pointer, bytes); }
template <class T> static __host__ inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) { autocomp_stream(stream); return autocomp_memory((void**)pointer, bytes); }
static __host__ inline cudaError_t cudaFree(void* at) { return autocomp_free(at); }
static __host__ inline cudaError_t cudaFreeAsync(void* at, cudaStream_t stream) { autocomp_stream(stream); return autocomp_free(at); }
static __host__ inline cudaError_t cudaMemset(void* to, int value, size_t bytes) { return autocomp_set(to, value, bytes); }
static __host__ inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = 0) { autocomp_stream(stream); return autocomp_set(to, value, bytes); }
static __host__ inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost: __builtin_memcpy(to, from, bytes); return cudaSuccess;
    case cudaMemcpyHostToDevice: return autocomp_put(to, 0, from, bytes);
    case cudaMemcpyDeviceToHost: return autocomp_get();
    default: return autocomp_copy(to, 0, from, 0, bytes);
  }
}
static __host__ inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0) { autocomp_stream(stream); return cudaMemcpy(to, from, bytes, kind); }
// Variables of the device have a place in the host part whose name is theirs.
template <class T> static __host__ inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return kind == cudaMemcpyHostToDevice ? autocomp_put(&symbol, offset, from, bytes) : autocomp_copy(&symbol, offset, from, 0, bytes);
}
template <class T> static __host__ inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) { autocomp_stream(stream); return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind); }
template <class T> static __host__ inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return kind == cudaMemcpyDeviceToHost ? autocomp_get() : autocomp_copy(to, 0, &symbol, offset, bytes);
}
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
struct cudaDeviceProp {
  char name[256];
  size_t sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
  int regsPerBlock, warpSize, maxThreadsPerBlock, major, minor, multiProcessorCount, maxThreadsPerMultiProcessor;
};
static __host__ inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* it, int device) {
  if (device != 0) return 101;
  *it = cudaDeviceProp{"simulated", 49152, AUTOCOMP_SHARED, AUTOCOMP_BLOCK_SHARED, 65536, 32, 1024, AUTOCOMP_CAPABILITY / 10, AUTOCOMP_CAPABILITY % 10, AUTOCOMP_SMS, AUTOCOMP_WARPS * 32};
  return cudaSuccess;
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
// The largest block of those by which an SM holds most threads.
template <class K> static __host__ inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* least_grid, int* block, K* kernel, size_t shared = 0, int limit = 0) {
  int most = 0;
  for (int threads = limit < 1 || 1024 < limit ? 1024 : limit / 32 * 32; 0 < threads; threads -= 32) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
    if (most < blocks * threads) most = blocks * threads, *block = threads, *least_grid = blocks * AUTOCOMP_SMS;
  }
  return most ? cudaSuccess : 1;
}
#endif
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
template <class K> static __host__ inline cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache) { return cudaSuccess; }
// Mathematics by which sizes and scales are computed.
static __host__ inline float sqrtf(float a) { return __builtin_elementwise_sqrt(a); }
static __host__ inline double sqrt(double a) { return __builtin_elementwise_sqrt(a); }
static __host__ inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
static __host__ inline double floor(double a) { long long n = (long long)a; return a < -9e15 || 9e15 < a ? a : a < (double)n ? (double)(n - 1) : (double)n; }
static __host__ inline double ceil(double a) { return -floor(-a); }
static __host__ inline float floorf(float a) { return (float)floor((double)a); }
static __host__ inline float ceilf(float a) { return (float)ceil((double)a); }
static __host__ inline double log2(double a) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, a);
  if (!(2.3e-308 < a && a < 1.7e308)) return a == 0 ? -__builtin_inf() : __builtin_nan("");
  double m = __builtin_bit_cast(double, (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull), s = (m - 1) / (m + 1), t = s * s, r = 0;
  for (int n = 41; 0 < n; n -= 2) r = r * t + 1.0 / n;
  return (double)((int)(bits >> 52) - 1023) + 2 * s * r * 1.4426950408889634;
}
static __host__ inline double exp2(double a) {
  if (!(-1020 < a && a < 1023)) return a < 0 ? 0 : a > 0 ? __builtin_inf() : a;
  double n = floor(a + 0.5), x = (a - n) * 0.69314718055994531, r = 1;
  for (int k = 16; 0 < k; k--) r = 1 + r * x / k;
  return r * __builtin_bit_cast(double, (unsigned long long)((long long)n + 1023) << 52);
}
static __host__ inline double exp(double a) { return exp2(a * 1.4426950408889634); }
static __host__ inline double log(double a) { return log2(a) * 0.69314718055994531; }
// Whole exponents by squares, so that signs and zeros come out right; others of positive numbers.
static __host__ inline double pow(double a, double b) {
  if (b == floor(b) && -1024 < b && b < 1024) {
    double r = 1, square = a;
    for (int n = b < 0 ? -(int)b : (int)b; n; n /= 2, square *= square) if (n & 1) r *= square;
    return b < 0 ? 1 / r : r;
  }
  return a == 0 ? (b < 0 ? __builtin_inf() : 0) : exp2(b * log2(a));
}
static __host__ inline float log2f(float a) { return (float)log2((double)a); }
static __host__ inline float exp2f(float a) { return (float)exp2((double)a); }
static __host__ inline float expf(float a) { return (float)exp((double)a); }
static __host__ inline float logf(float a) { return (float)log((double)a); }
static __host__ inline float powf(float a, float b) { return (float)pow((double)a, (double)b); }
// What is printed, by kernels too, goes nowhere; a host part that gives up has crashed.
struct FILE;
#define stderr ((FILE*)0)
template <class... A> static __host__ inline int fprintf(FILE*, const char*, A...) { return 0; }
template <class... A> static __host__ __device__ inline int printf(const char*, A...) { return 0; }
static __host__ inline void exit(int) { __builtin_trap(); }
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
