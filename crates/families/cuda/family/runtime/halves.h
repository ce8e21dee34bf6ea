// Halves, and what halves and brain floats have alike.
typedef _Float16 half;
typedef _Float16 __half;
struct __half_raw {
  unsigned short x;
  __device__ __forceinline__ operator half() const { return __builtin_bit_cast(half, x); }
};
struct __attribute__((aligned(4))) half2 {
  half x, y;
  half2() = default;
  __device__ __forceinline__ half2(half x, half y) : x(x), y(y) {}
};
typedef half2 __half2;
AUTOCOMP_D unsigned short __half_as_ushort(half a) { return __builtin_bit_cast(unsigned short, a); }
AUTOCOMP_D short __half_as_short(half a) { return __builtin_bit_cast(short, a); }
AUTOCOMP_D half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(half, a); }
AUTOCOMP_D half __short_as_half(short a) { return __builtin_bit_cast(half, a); }
AUTOCOMP_HD half __float2half(float a) { return (half)a; }
AUTOCOMP_HD float __half2float(half a) { return (float)a; }
AUTOCOMP_D half __double2half(double a) { return (half)a; }
AUTOCOMP_HD half __float2half_rn(float a) { return (half)a; }
// Between halves and whole numbers of a type, whose letter in assembly and suffix are told.
#define AUTOCOMP_WHOLE(NAME, T, C, S) \
  AUTOCOMP_D T __half2##NAME##_rn(half a) { T r; asm("cvt.rni." S ".f16 %0, %1;" : "=" C(r) : "h"(__half_as_ushort(a))); return r; } \
  AUTOCOMP_D T __half2##NAME##_rz(half a) { T r; asm("cvt.rzi." S ".f16 %0, %1;" : "=" C(r) : "h"(__half_as_ushort(a))); return r; } \
  AUTOCOMP_D T __half2##NAME##_rd(half a) { T r; asm("cvt.rmi." S ".f16 %0, %1;" : "=" C(r) : "h"(__half_as_ushort(a))); return r; } \
  AUTOCOMP_D T __half2##NAME##_ru(half a) { T r; asm("cvt.rpi." S ".f16 %0, %1;" : "=" C(r) : "h"(__half_as_ushort(a))); return r; } \
  AUTOCOMP_D half __##NAME##2half_rn(T a) { return (half)a; }
AUTOCOMP_WHOLE(int, int, "r", "s32")
AUTOCOMP_WHOLE(uint, unsigned, "r", "u32")
AUTOCOMP_WHOLE(short, short, "h", "s16")
AUTOCOMP_WHOLE(ushort, unsigned short, "h", "u16")
AUTOCOMP_WHOLE(ll, long long, "l", "s64")
AUTOCOMP_WHOLE(ull, unsigned long long, "l", "u64")

AUTOCOMP_D half2 __floats2half2_rn(float a, float b) { return half2((half)a, (half)b); }
AUTOCOMP_D half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
AUTOCOMP_D half2 __float2half2_rn(float a) { return __floats2half2_rn(a, a); }
AUTOCOMP_D half2 __halves2half2(half a, half b) { return half2(a, b); }
AUTOCOMP_D half2 make_half2(half a, half b) { return half2(a, b); }
AUTOCOMP_D half2 __half2half2(half a) { return half2(a, a); }
AUTOCOMP_D float2 __half22float2(half2 a) { return float2{(float)a.x, (float)a.y}; }
AUTOCOMP_D half __low2half(half2 a) { return a.x; }
AUTOCOMP_D half __high2half(half2 a) { return a.y; }
AUTOCOMP_D half2 __low2half2(half2 a) { return half2(a.x, a.x); }
AUTOCOMP_D half2 __high2half2(half2 a) { return half2(a.y, a.y); }
AUTOCOMP_D half2 __lows2half2(half2 a, half2 b) { return half2(a.x, b.x); }
AUTOCOMP_D half2 __highs2half2(half2 a, half2 b) { return half2(a.y, b.y); }

AUTOCOMP_D half __hfma(half a, half b, half c) { unsigned short r; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(__half_as_ushort(a)), "h"(__half_as_ushort(b)), "h"(__half_as_ushort(c))); return __ushort_as_half(r); }
AUTOCOMP_D half __hfma_relu(half a, half b, half c) { unsigned short r; asm("fma.rn.relu.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(__half_as_ushort(a)), "h"(__half_as_ushort(b)), "h"(__half_as_ushort(c))); return __ushort_as_half(r); }
#define AUTOCOMP_OF_TWO(T, NAME, OP) \
  AUTOCOMP_D T NAME(T a, T b) { unsigned short r; asm(OP " %0, %1, %2;" : "=h"(r) : "h"(__builtin_bit_cast(unsigned short, a)), "h"(__builtin_bit_cast(unsigned short, b))); return __builtin_bit_cast(T, r); }
AUTOCOMP_OF_TWO(half, __hmax, "max.f16")
AUTOCOMP_OF_TWO(half, __hmin, "min.f16")
AUTOCOMP_D half __habs(half a) { return __ushort_as_half(__half_as_ushort(a) & 0x7fff); }
AUTOCOMP_D half __hneg(half a) { return -a; }

// Instructions on pairs: two sources, one source, three.
#define AUTOCOMP_PAIR(T, NAME, OP) \
  AUTOCOMP_D T NAME(T a, T b) { unsigned r; asm(OP " %0, %1, %2;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b))); return __builtin_bit_cast(T, r); }
#define AUTOCOMP_PAIR_OF_ONE(T, NAME, OP) \
  AUTOCOMP_D T NAME(T a) { unsigned r; asm(OP " %0, %1;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a))); return __builtin_bit_cast(T, r); }
#define AUTOCOMP_PAIR_OF_THREE(T, NAME, OP) \
  AUTOCOMP_D T NAME(T a, T b, T c) { unsigned r; asm(OP " %0, %1, %2, %3;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(__builtin_bit_cast(unsigned, c))); return __builtin_bit_cast(T, r); }
AUTOCOMP_PAIR(half2, __hadd2, "add.f16x2")
AUTOCOMP_PAIR(half2, __hsub2, "sub.f16x2")
AUTOCOMP_PAIR(half2, __hmul2, "mul.f16x2")
AUTOCOMP_PAIR(half2, __hadd2_rn, "add.rn.f16x2")
AUTOCOMP_PAIR(half2, __hmul2_rn, "mul.rn.f16x2")
AUTOCOMP_PAIR(half2, __hmax2, "max.f16x2")
AUTOCOMP_PAIR(half2, __hmin2, "min.f16x2")
AUTOCOMP_PAIR_OF_ONE(half2, __hneg2, "neg.f16x2")
AUTOCOMP_PAIR_OF_ONE(half2, __habs2, "abs.f16x2")
AUTOCOMP_PAIR_OF_THREE(half2, __hfma2, "fma.rn.f16x2")
AUTOCOMP_PAIR_OF_THREE(half2, __hfma2_relu, "fma.rn.relu.f16x2")

// What both types have by their operators, and by way of floats.
#define AUTOCOMP_BY_OPERATORS(T, T2) \
  AUTOCOMP_D T __hadd(T a, T b) { return a + b; } \
  AUTOCOMP_D T __hsub(T a, T b) { return a - b; } \
  AUTOCOMP_D T __hmul(T a, T b) { return a * b; } \
  AUTOCOMP_D T __hdiv(T a, T b) { return (T)((float)a / (float)b); } \
  AUTOCOMP_D bool __heq(T a, T b) { return (float)a == (float)b; } \
  AUTOCOMP_D bool __hne(T a, T b) { return (float)a < (float)b || (float)b < (float)a; } \
  AUTOCOMP_D bool __hlt(T a, T b) { return (float)a < (float)b; } \
  AUTOCOMP_D bool __hle(T a, T b) { return (float)a <= (float)b; } \
  AUTOCOMP_D bool __hgt(T a, T b) { return (float)b < (float)a; } \
  AUTOCOMP_D bool __hge(T a, T b) { return (float)b <= (float)a; } \
  AUTOCOMP_D bool __hisnan(T a) { return (float)a != (float)a; } \
  AUTOCOMP_D int __hisinf(T a) { return (float)a == INFINITY ? 1 : (float)a == -INFINITY ? -1 : 0; } \
  AUTOCOMP_D T hexp(T a) { return (T)__expf((float)a); } \
  AUTOCOMP_D T hexp2(T a) { return (T)autocomp_ex2((float)a); } \
  AUTOCOMP_D T hexp10(T a) { return (T)__exp10f((float)a); } \
  AUTOCOMP_D T hlog(T a) { return (T)__logf((float)a); } \
  AUTOCOMP_D T hlog2(T a) { return (T)autocomp_lg2((float)a); } \
  AUTOCOMP_D T hlog10(T a) { return (T)__log10f((float)a); } \
  AUTOCOMP_D T hsqrt(T a) { return (T)sqrtf((float)a); } \
  AUTOCOMP_D T hrsqrt(T a) { return (T)rsqrtf((float)a); } \
  AUTOCOMP_D T hrcp(T a) { return (T)autocomp_rcp((float)a); } \
  AUTOCOMP_D T hsin(T a) { return (T)sinf((float)a); } \
  AUTOCOMP_D T hcos(T a) { return (T)cosf((float)a); } \
  AUTOCOMP_D T hfloor(T a) { return (T)floorf((float)a); } \
  AUTOCOMP_D T hceil(T a) { return (T)ceilf((float)a); } \
  AUTOCOMP_D T htrunc(T a) { return (T)truncf((float)a); } \
  AUTOCOMP_D T hrint(T a) { return (T)rintf((float)a); } \
  AUTOCOMP_EACH(T, T2, h2exp, hexp) \
  AUTOCOMP_EACH(T, T2, h2exp2, hexp2) \
  AUTOCOMP_EACH(T, T2, h2log, hlog) \
  AUTOCOMP_EACH(T, T2, h2log2, hlog2) \
  AUTOCOMP_EACH(T, T2, h2sqrt, hsqrt) \
  AUTOCOMP_EACH(T, T2, h2rsqrt, hrsqrt) \
  AUTOCOMP_EACH(T, T2, h2rcp, hrcp) \
  AUTOCOMP_EACH(T, T2, h2sin, hsin) \
  AUTOCOMP_EACH(T, T2, h2cos, hcos) \
  AUTOCOMP_EACH(T, T2, h2floor, hfloor) \
  AUTOCOMP_EACH(T, T2, h2ceil, hceil) \
  AUTOCOMP_EACH(T, T2, h2trunc, htrunc) \
  AUTOCOMP_EACH(T, T2, h2rint, hrint) \
  AUTOCOMP_COMPARED(T, T2, __heq2, __hbeq2, __heq) \
  AUTOCOMP_COMPARED(T, T2, __hne2, __hbne2, __hne) \
  AUTOCOMP_COMPARED(T, T2, __hlt2, __hblt2, __hlt) \
  AUTOCOMP_COMPARED(T, T2, __hle2, __hble2, __hle) \
  AUTOCOMP_COMPARED(T, T2, __hgt2, __hbgt2, __hgt) \
  AUTOCOMP_COMPARED(T, T2, __hge2, __hbge2, __hge) \
  AUTOCOMP_D bool __hbneu2(T2 a, T2 b) { return (float)a.x != (float)b.x && (float)a.y != (float)b.y; } \
  AUTOCOMP_D T2 __hisnan2(T2 a) { return T2((T)(float)__hisnan(a.x), (T)(float)__hisnan(a.y)); } \
  AUTOCOMP_D T2 __h2div(T2 a, T2 b) { return T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); } \
  AUTOCOMP_D T2 __lowhigh2highlow(T2 a) { return T2(a.y, a.x); } \
  AUTOCOMP_D float __low2float(T2 a) { return (float)a.x; } \
  AUTOCOMP_D float __high2float(T2 a) { return (float)a.y; } \
  AUTOCOMP_D T2 operator+(T2 a, T2 b) { return __hadd2(a, b); } \
  AUTOCOMP_D T2 operator-(T2 a, T2 b) { return __hsub2(a, b); } \
  AUTOCOMP_D T2 operator*(T2 a, T2 b) { return __hmul2(a, b); } \
  AUTOCOMP_D T2 operator/(T2 a, T2 b) { return __h2div(a, b); } \
  AUTOCOMP_D T2 operator-(T2 a) { return __hneg2(a); } \
  AUTOCOMP_D T2& operator+=(T2& a, T2 b) { return a = a + b; } \
  AUTOCOMP_D T2& operator-=(T2& a, T2 b) { return a = a - b; } \
  AUTOCOMP_D T2& operator*=(T2& a, T2 b) { return a = a * b; } \
  AUTOCOMP_D T2& operator/=(T2& a, T2 b) { return a = a / b; } \
  AUTOCOMP_D bool operator!=(T2 a, T2 b) { return __hbneu2(a, b); } \
  AUTOCOMP_D bool operator==(T2 a, T2 b) { return __hbeq2(a, b); } \
  AUTOCOMP_D bool operator<(T2 a, T2 b) { return __hblt2(a, b); } \
  AUTOCOMP_D bool operator<=(T2 a, T2 b) { return __hble2(a, b); } \
  AUTOCOMP_D bool operator>(T2 a, T2 b) { return __hbgt2(a, b); } \
  AUTOCOMP_D bool operator>=(T2 a, T2 b) { return __hbge2(a, b); }
#define AUTOCOMP_EACH(T, T2, NAME, OF_ONE) AUTOCOMP_D T2 NAME(T2 a) { return T2(OF_ONE(a.x), OF_ONE(a.y)); }
#define AUTOCOMP_COMPARED(T, T2, PAIR, BOTH, OF_ONE) \
  AUTOCOMP_D T2 PAIR(T2 a, T2 b) { return T2((T)(float)OF_ONE(a.x, b.x), (T)(float)OF_ONE(a.y, b.y)); } \
  AUTOCOMP_D bool BOTH(T2 a, T2 b) { return OF_ONE(a.x, b.x) && OF_ONE(a.y, b.y); }
AUTOCOMP_BY_OPERATORS(half, half2)
