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
