// Brain floats: their sums and products are rounded to them, as on a device.
struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __host__ __device__ __forceinline__ __nv_bfloat16(float a) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(a));
#else
    unsigned u = __builtin_bit_cast(unsigned, a);
    bits = a != a ? 0x7fff : (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
#endif
  }
  __host__ __device__ __forceinline__ __nv_bfloat16(double a) : __nv_bfloat16(autocomp_to_odd(a)) {}
  __host__ __device__ __forceinline__ __nv_bfloat16(int a) : __nv_bfloat16((double)a) {}
  __host__ __device__ __forceinline__ __nv_bfloat16(unsigned a) : __nv_bfloat16((double)a) {}
  __host__ __device__ __forceinline__ __nv_bfloat16(__nv_bfloat16_raw a) : bits(a.x) {}
  __host__ __device__ __forceinline__ operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
  // Rounded towards zero, the last bit set if anything was left: rounding again is as rounding once.
  static __host__ __device__ __forceinline__ float autocomp_to_odd(double a) {
    float near = (float)a;
    unsigned u = __builtin_bit_cast(unsigned, near);
    if (__builtin_fabs((double)near) == __builtin_inf() || (double)near == a || a != a) return near;
    if (__builtin_fabs(a) < __builtin_fabs((double)near)) u--;
    return __builtin_bit_cast(float, u | 1);
  }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __forceinline__ __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
AUTOCOMP_D unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
AUTOCOMP_D short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.bits; }
AUTOCOMP_D __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16_raw{a}; }
AUTOCOMP_D __nv_bfloat16 __short_as_bfloat16(short a) { return __nv_bfloat16_raw{(unsigned short)a}; }
AUTOCOMP_HD __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
AUTOCOMP_D __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
AUTOCOMP_D __nv_bfloat16 __float2bfloat16_rz(float a) { unsigned u = __builtin_bit_cast(unsigned, a); return a != a ? __nv_bfloat16(a) : __ushort_as_bfloat16((unsigned short)(u >> 16)); }
AUTOCOMP_D __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
AUTOCOMP_D __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16(a); }
AUTOCOMP_D __nv_bfloat16 __uint2bfloat16_rn(unsigned a) { return __nv_bfloat16(a); }
AUTOCOMP_HD float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
AUTOCOMP_D int __bfloat162int_rz(__nv_bfloat16 a) { return (int)(float)a; }
AUTOCOMP_D int __bfloat162int_rn(__nv_bfloat16 a) { return __float2int_rn((float)a); }
AUTOCOMP_D __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)); }
AUTOCOMP_D __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
AUTOCOMP_D __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
AUTOCOMP_D __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
AUTOCOMP_D __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
AUTOCOMP_D __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
AUTOCOMP_D float2 __bfloat1622float2(__nv_bfloat162 a) { return float2{(float)a.x, (float)a.y}; }
AUTOCOMP_D __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
AUTOCOMP_D __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
AUTOCOMP_D __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
AUTOCOMP_D __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
AUTOCOMP_D __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
AUTOCOMP_D __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }

AUTOCOMP_D __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { unsigned short r; asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.bits), "h"(b.bits), "h"(c.bits)); return __ushort_as_bfloat16(r); }
AUTOCOMP_D __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { unsigned short r; asm("fma.rn.relu.bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.bits), "h"(b.bits), "h"(c.bits)); return __ushort_as_bfloat16(r); }
AUTOCOMP_OF_TWO(__nv_bfloat16, __hmax, "max.bf16")
AUTOCOMP_OF_TWO(__nv_bfloat16, __hmin, "min.bf16")
AUTOCOMP_D __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.bits & 0x7fff); }
AUTOCOMP_D __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.bits ^ 0x8000); }
// A device has only the one instruction for all three before compute capability 9.0.
AUTOCOMP_D __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, __ushort_as_bfloat16(0x3f80), b); }
AUTOCOMP_D __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(b, __ushort_as_bfloat16(0xbf80), a); }
AUTOCOMP_D __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, b, __ushort_as_bfloat16(0x8000)); }
AUTOCOMP_D __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
AUTOCOMP_D __nv_bfloat16 operator-(__nv_bfloat16 a) { return __hneg(a); }
AUTOCOMP_D __nv_bfloat16 operator+(__nv_bfloat16 a) { return a; }
AUTOCOMP_D __nv_bfloat16& operator+=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a + b; }
AUTOCOMP_D __nv_bfloat16& operator-=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a - b; }
AUTOCOMP_D __nv_bfloat16& operator*=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a * b; }
AUTOCOMP_D __nv_bfloat16& operator/=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a / b; }
AUTOCOMP_D bool operator==(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a == (float)b; }
AUTOCOMP_D bool operator!=(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a != (float)b; }
AUTOCOMP_D bool operator<(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b; }
AUTOCOMP_D bool operator<=(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a <= (float)b; }
AUTOCOMP_D bool operator>(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)b < (float)a; }
AUTOCOMP_D bool operator>=(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)b <= (float)a; }
AUTOCOMP_PAIR_OF_THREE(__nv_bfloat162, __hfma2, "fma.rn.bf16x2")
AUTOCOMP_PAIR_OF_THREE(__nv_bfloat162, __hfma2_relu, "fma.rn.relu.bf16x2")
AUTOCOMP_PAIR(__nv_bfloat162, __hmax2, "max.bf16x2")
AUTOCOMP_PAIR(__nv_bfloat162, __hmin2, "min.bf16x2")
AUTOCOMP_PAIR_OF_ONE(__nv_bfloat162, __hneg2, "neg.bf16x2")
AUTOCOMP_PAIR_OF_ONE(__nv_bfloat162, __habs2, "abs.bf16x2")
AUTOCOMP_D __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(a, __float2bfloat162_rn(1.0f), b); }
AUTOCOMP_D __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(b, __float2bfloat162_rn(-1.0f), a); }
AUTOCOMP_D __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(a, b, __float2bfloat162_rn(-0.0f)); }
AUTOCOMP_BY_OPERATORS(__nv_bfloat16, __nv_bfloat162)

// Shuffles of halves, brain floats and pairs of them.
#define AUTOCOMP_SHUFFLED(T, W, NAME, SECOND) \
  AUTOCOMP_D T NAME(unsigned m, T v, SECOND o, int w = 32) { return __builtin_bit_cast(T, (W)NAME(m, (unsigned)__builtin_bit_cast(W, v), o, w)); }
#define AUTOCOMP_SHUFFLES(T, W) \
  AUTOCOMP_SHUFFLED(T, W, __shfl_sync, int) \
  AUTOCOMP_SHUFFLED(T, W, __shfl_up_sync, unsigned) \
  AUTOCOMP_SHUFFLED(T, W, __shfl_down_sync, unsigned) \
  AUTOCOMP_SHUFFLED(T, W, __shfl_xor_sync, int)
AUTOCOMP_SHUFFLES(half, unsigned short)
AUTOCOMP_SHUFFLES(__nv_bfloat16, unsigned short)
AUTOCOMP_SHUFFLES(half2, unsigned)
AUTOCOMP_SHUFFLES(__nv_bfloat162, unsigned)
