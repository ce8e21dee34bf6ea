// Whole numbers: products, differences, and words of several small numbers.
AUTOCOMP_D unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
AUTOCOMP_D long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
AUTOCOMP_D unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
AUTOCOMP_D unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
AUTOCOMP_D unsigned __sad(int a, int b, unsigned c) { return (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b) + c; }
AUTOCOMP_D int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
AUTOCOMP_D int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
AUTOCOMP_D unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
AUTOCOMP_D unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
AUTOCOMP_D int __dp2a_lo(int a, int b, int c) { int r; asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
AUTOCOMP_D int __dp2a_hi(int a, int b, int c) { int r; asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
AUTOCOMP_D unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
AUTOCOMP_D unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
// Each number of two words, of type T and BITS bits: `x` and `y` become VALUE.
#define AUTOCOMP_PARTS(NAME, T, BITS, VALUE) \
  AUTOCOMP_D unsigned NAME(unsigned a, unsigned b) { \
    unsigned r = 0; \
    _Pragma("unroll") for (int at = 0; at < 32; at += BITS) { int x = (T)(a >> at), y = (T)(b >> at); r |= ((unsigned)(VALUE) & ((1u << BITS) - 1)) << at; } \
    return r; \
  }
#define AUTOCOMP_SIGNED_PARTS(N, T, U, BITS, LEAST, MOST, MOST_U) \
  AUTOCOMP_PARTS(__vadd##N, T, BITS, x + y) \
  AUTOCOMP_PARTS(__vsub##N, T, BITS, x - y) \
  AUTOCOMP_PARTS(__vaddss##N, T, BITS, max(min(x + y, MOST), LEAST)) \
  AUTOCOMP_PARTS(__vsubss##N, T, BITS, max(min(x - y, MOST), LEAST)) \
  AUTOCOMP_PARTS(__vaddus##N, U, BITS, min(x + y, MOST_U)) \
  AUTOCOMP_PARTS(__vsubus##N, U, BITS, max(x - y, 0)) \
  AUTOCOMP_PARTS(__vmaxs##N, T, BITS, max(x, y)) \
  AUTOCOMP_PARTS(__vmins##N, T, BITS, min(x, y)) \
  AUTOCOMP_PARTS(__vmaxu##N, U, BITS, max(x, y)) \
  AUTOCOMP_PARTS(__vminu##N, U, BITS, min(x, y)) \
  AUTOCOMP_PARTS(__vabsdiffs##N, T, BITS, x < y ? y - x : x - y) \
  AUTOCOMP_PARTS(__vabsdiffu##N, U, BITS, x < y ? y - x : x - y) \
  AUTOCOMP_PARTS(__vavgu##N, U, BITS, (x + y + 1) >> 1) \
  AUTOCOMP_PARTS(__vcmpeq##N, U, BITS, -(x == y)) \
  AUTOCOMP_PARTS(__vcmpne##N, U, BITS, -(x != y)) \
  AUTOCOMP_PARTS(__vcmpgts##N, T, BITS, -(x > y)) \
  AUTOCOMP_PARTS(__vcmpgtu##N, U, BITS, -(x > y)) \
  AUTOCOMP_PARTS(__vcmplts##N, T, BITS, -(x < y)) \
  AUTOCOMP_PARTS(__vcmpltu##N, U, BITS, -(x < y)) \
  AUTOCOMP_D unsigned __vneg##N(unsigned a) { return __vsub##N(0, a); } \
  AUTOCOMP_D unsigned __vabs##N(unsigned a) { return __vmaxs##N(a, __vneg##N(a)); }
AUTOCOMP_SIGNED_PARTS(4, signed char, unsigned char, 8, -128, 127, 255)
AUTOCOMP_SIGNED_PARTS(2, short, unsigned short, 16, -32768, 32767, 65535)
