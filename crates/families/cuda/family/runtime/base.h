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
AUTOCOMP_HD void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
AUTOCOMP_HD void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
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
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.434294481903251827651
#define M_LN2 0.693147180559945309417
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_1_PI 0.318309886183790671538
#define M_2_PI 0.636619772367581343076
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.707106781186547524401

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
