/* Matrix products and their neighbours with free tile shapes; every routine issues its own configuration. */
#ifndef BLOCKS_H
#define BLOCKS_H
#include "cal.h"
#define INL static inline __attribute__((always_inline))
typedef short i16;
static i8 A[192 * 1024] ALIGNED(4096), B[128 * 1024] ALIGNED(4096), C[192 * 1024] ALIGNED(4096), E[128 * 1024] ALIGNED(4096);
static i32 D[32 * 1024] ALIGNED(4096);
static NOINLINE void fill(void *p, u64 n, u64 seed) {          /* bytes -4 .. 3 */
  u64 s = seed * 0x9e3779b97f4a7c15ul + 1, *w = p;
  KEEP_LOOP for (u64 i = 0; i < n / 8; i++) {
    s ^= s << 13; s ^= s >> 7; s ^= s << 17;
    w[i] = (((s & 0x0707070707070707ul) | 0x8080808080808080ul) - 0x0404040404040404ul) ^ 0x8080808080808080ul;
  }
}
static NOINLINE void fill_words(i32 *p, u64 n) { KEEP_LOOP for (u64 i = 0; i < n; i++) p[i] = (i32)((u32)i * 2654435761u >> 25) - 64; }
/* one word of every line, so that two simulators can be seen to agree about results */
static NOINLINE void shown(const char *name, const void *p, u64 n) {
  const u64 *w = p; u64 h = 1;
  KEEP_LOOP for (u64 i = 0; i < n / 8; i += 8) h = ((h << 7) | (h >> 57)) + w[i];
  puts_("DIG\t"); puts_(name); put('\t'); putnum((u32)(h ^ h >> 32)); put('\n');
}
#define CEIL16(x) (((x) + 15) / 16)
INL int least(int a, int b) { return a < b ? a : b; }
enum { TWO = 1, ROWBIAS = 2, BIAS = 4, WIDE = 8, HALVES = 16, KIN = 32, HOLD = 64, FULL = 128, ONEBANK = 256, LATE = 512, AFIRST = 1024, BKEEP = 2048 };
/* C[M][N] = A[M][K] B[K][N] in blocks of ti x tj tiles of C, tk tiles of K at a time.
   TWO operand buffers, bias by row or full, WIDE stores, HALVES of the accumulator in turn, KIN: the
   inner dimension innermost, HOLD: weights stay in the array for a column of tiles, FULL width out,
   ONEBANK for A and B, LATE: results leave while the next block runs, BKEEP: B is moved in once. */
INL void blocks(const i8 *a_, const i8 *b_, void *c_, const i32 *d_, int M, int N, int K, int ti, int tj, int tk, int fl, int act, int sh) {
  const int ni = CEIL16(M), nj = CEIL16(N), nk = CEIL16(K), es = fl & FULL ? 4 : 1;
  const u32 pb = fl & ONEBANK ? 2048 : 2 * BANK;
  cfg_ex(1, 0, 0, 0); cfg_st((u64)(N * es), act, sh); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  if (fl & (ROWBIAS | BIAS)) cfg_ld(fl & BIAS ? (u64)N * 4 : 0, 2);
  u32 s = 0, h = 0; int li = -1, lj = 0;
#define OUT(i0, j0, half) do {                                                                            \
    const int oi = least(ti, ni - (i0)), oj = least(tj, nj - (j0));                                       \
    for (int x = 0; x < oi; x++) for (int y = 0; y < oj; y += fl & WIDE ? 4 : 1) {                        \
      const int r = least(16, M - ((i0) + x) * 16);                                                       \
      const int w = least(fl & WIDE ? 64 : 16, least(N - ((j0) + y) * 16, (oj - y) * 16));                \
      MVOUT((u64)c_ + (u64)((((i0) + x) * 16 * N + ((j0) + y) * 16) * es),                                \
            (fl & FULL ? AC_WIDE : AC_NEW) + (half) + (u32)((x * tj + y) * 16), (u64)w, (u64)r);           \
    } } while (0)
  if (fl & BKEEP)
    for (int k = 0; k < nk; k++) for (int j = 0; j < nj; j += 4)
      MVIN2(b_ + k * 16 * N + j * 16, pb + (u32)(k * nj + j) * 16, (u64)least(64, N - j * 16), (u64)least(16, K - k * 16));
  for (int i = 0; i < ni; i += ti) for (int j = 0; j < nj; j += tj) {
    const int mi = least(ti, ni - i), mj = least(tj, nj - j);
    if (fl & (ROWBIAS | BIAS))
      for (int x = 0; x < mi; x++) for (int y = 0; y < mj; y++)
        MVIN3(d_ + (fl & BIAS ? (i + x) * 16 * N : 0) + (j + y) * 16, AC_NEW + h + (u32)((x * tj + y) * 16),
              (u64)least(16, N - (j + y) * 16), (u64)least(16, M - (i + x) * 16));
    for (int k = 0; k < nk; k += tk) {
      const int mk = least(tk, nk - k);
      const u32 at = s * 1024, bt = pb + (fl & BKEEP ? (u32)((k * nj + j) * 16) : s * 1024), br = (u32)(fl & BKEEP ? nj : tj) * 16;
      for (int x = 0; x < mi; x++) for (int q = 0; q < mk; q += 4)
        MVIN(a_ + (i + x) * 16 * K + (k + q) * 16, at + (u32)(x * tk + q) * 16, (u64)least(least(64, (mk - q) * 16), K - (k + q) * 16), (u64)least(16, M - (i + x) * 16));
      if (!(fl & BKEEP)) for (int q = 0; q < mk; q++) for (int y = 0; y < mj; y += 4)
        MVIN2(b_ + (k + q) * 16 * N + (j + y) * 16, bt + (u32)(q * tj + y) * 16, (u64)least(least(64, (mj - y) * 16), N - (j + y) * 16), (u64)least(16, K - (k + q) * 16));
#define PAIR(x, y, q, first) do {                                                                         \
      const u64 r = (u64)least(16, M - (i + (x)) * 16), w = (u64)least(16, N - (j + (y)) * 16), d = (u64)least(16, K - (k + (q)) * 16); \
      const u32 to = (k + (q) || fl & (ROWBIAS | BIAS) ? AC_SUM : AC_NEW) + h + (u32)(((x) * tj + (y)) * 16); \
      GEM(F_PRELOAD, (first) ? loc(bt + (u32)(q) * br + (u32)(y) * 16, w, d) : loc(NOADDR, w, d), loc(to, w, r)); \
      if (first) GEM(F_COMP, loc(at + (u32)((x) * tk + (q)) * 16, d, r), loc(NOADDR, 16, 16));             \
      else GEM(F_COMPACC, loc(at + (u32)((x) * tk + (q)) * 16, d, r), loc(NOADDR, 16, 16)); } while (0)
      if (fl & KIN) { for (int x = 0; x < mi; x++) for (int y = 0; y < mj; y++) for (int q = 0; q < mk; q++) PAIR(x, y, q, 1); }
      else { for (int q = 0; q < mk; q++) for (int y = 0; y < mj; y++) for (int x = 0; x < mi; x++) PAIR(x, y, q, !(fl & HOLD) || x == 0); }
      if (fl & TWO) s ^= 1;
    }
    if (fl & LATE) { if (li >= 0) OUT(li, lj, h ^ 256); li = i; lj = j; h ^= 256; }
    else { OUT(i, j, h); if (fl & HALVES) h ^= 512; }
  }
  if (fl & LATE) OUT(li, lj, h ^ 256);
}
/* a routine with sizes known to the compiler, and one that learns them at run time */
static volatile int rM, rN, rK, rT;
#define FIXED(id, M, N, K, ti, tj, tk, fl, act, sh) static NOINLINE void id(void) { blocks(A, B, C, D, M, N, K, ti, tj, tk, fl, act, sh); }
#define FREE(id, ti, tj, tk, fl, act, sh) static NOINLINE void id(void) { blocks(A, B, C, D, rM, rN, rK, ti, tj, tk, fl, act, sh); }
#define DO(name, bytes, ...) do { CASE(name, , __VA_ARGS__); shown(name, C, bytes); } while (0)
#endif
