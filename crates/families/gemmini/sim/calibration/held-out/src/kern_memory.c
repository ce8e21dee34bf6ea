/* Operands that are cold, dirty or far apart, sums of matrices, results that are read back. */
#include "blocks.h"
#define FROM(name, a, b, c, M, N, K, ti, tj, tk, fl) static NOINLINE void name(const i8 *a_, const i8 *b_, i8 *c_) { blocks(a_, b_, c_, D, M, N, K, ti, tj, tk, fl, 0, -1); }
FROM(p64, a, b, c, 64, 64, 64, 2, 2, 4, TWO)
FROM(p128, a, b, c, 128, 64, 64, 4, 4, 2, WIDE | HALVES)
FROM(p32, a, b, c, 32, 128, 128, 2, 4, 2, TWO | WIDE)
static NOINLINE void rewrite(void *p, u64 n, u64 v) { u64 *w = p; KEEP_LOOP for (u64 i = 0; i < n / 8; i++) w[i] = v; }
/* o = x + y through the accumulator, several rows of tiles between the two moves */
INL void sum_of(const i8 *x, const i8 *y, i8 *o, int M, int N, int rows, int act) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, act, 0); cfg_ld_full((u64)N, 0, 1, 16); cfg_ld_full((u64)N, 1, 1, 16);
  u32 h = 0;
  for (int i = 0; i < M / 16; i += rows) for (int j = 0; j < N / 16; j += 4) {
    const u64 w = (u64)least(4, N / 16 - j) * 16; const int m = least(rows, M / 16 - i);
    for (int t = 0; t < m; t++) MVIN(x + (i + t) * 16 * N + j * 16, AC_NEW + h + (u32)t * 64, w, 16);
    for (int t = 0; t < m; t++) MVIN2(y + (i + t) * 16 * N + j * 16, AC_SUM + h + (u32)t * 64, w, 16);
    for (int t = 0; t < m; t++) MVOUT(o + (i + t) * 16 * N + j * 16, AC_NEW + h + (u32)t * 64, w, 16);
    h ^= 512;
  }
}
static NOINLINE void sum4(const i8 *x, const i8 *y, i8 *o) { sum_of(x, y, o, 96, 128, 6, 0); }
static NOINLINE void sum8(const i8 *x, const i8 *y, i8 *o) { sum_of(x, y, o, 128, 64, 8, 1); }
static NOINLINE void sum_wide(const i8 *x, const i8 *y, i8 *o) { sum_of(x, y, o, 64, 320, 4, 0); }
/* K in two halves: the first half's sums leave at full width and come back as bias */
static NOINLINE void split(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1); cfg_ld((u64)N * 4, 2);
  for (int half = 0; half < 2; half++) {
    cfg_st((u64)N * (half ? 1 : 4), 0, half ? -1 : 0);
    for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
      const u32 c = (u32)(j & 7) * 16;
      if (half) MVIN3((i32 *)E + i * 16 * N + j * 16, AC_NEW + c, 16, 16);
      for (int k = 0; k < K / 32; k++) {
        const int kk = half * (K / 32) + k; const u32 t = (u32)(k & 3) * 16;
        MVIN(A + i * 16 * K + kk * 16, t, 16, 16); MVIN2(B + kk * 16 * N + j * 16, 2 * BANK + t, 16, 16);
        PRELOAD(2 * BANK + t, (half || k ? AC_SUM : AC_NEW) + c); COMP(t);
      }
      if (half) MVOUT(C + i * 16 * N + j * 16, AC_NEW + c, 16, 16);
      else MVOUT((i32 *)E + i * 16 * N + j * 16, AC_WIDE + c, 16, 16);
    }
    FENCE();
  }
}
/* tiles copied through the scratchpad to another pitch */
static NOINLINE void repitch(int M, int N, int from, int to) {
  cfg_ex(1, 0, 0, 0); cfg_ld((u64)from, 0); cfg_st((u64)to, 0, 0);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 64; j++) {
    const u32 t = (u32)((i * (N / 64) + j) & 7) * 64;
    MVIN(A + i * 16 * from + j * 64, t, 64, 16);
    for (int q = 0; q < 4; q++) MVOUT(C + i * 16 * to + j * 64 + q * 16, t + (u32)q * 16, 16, 16);
  }
}
/* operands and results with pitches of a larger matrix */
static NOINLINE void inside(int pitch) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)pitch, 1, -1); cfg_ld((u64)pitch, 0); cfg_ld((u64)pitch, 1);
  for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) {
    const u32 c = (u32)((i * 4 + j) & 1) * 16;
    for (int k = 0; k < 4; k++) {
      const u32 t = (u32)(k & 3) * 16;
      MVIN(A + i * 16 * pitch + k * 16, t, 16, 16); MVIN2(B + k * 16 * pitch + j * 16, BANK + t, 16, 16);
      PRELOAD(BANK + t, (k ? AC_SUM : AC_NEW) + c); COMP(t);
    }
    MVOUT(C + i * 16 * pitch + j * 16, AC_NEW + c, 16, 16);
  }
}
/* results in the scratchpad, stored from there */
static NOINLINE void through_spad(int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1);
  MVIN2(B, BANK, 64, 16);
  for (int i = 0; i < n; i++) {
    const u32 t = (u32)(i & 3) * 16;
    MVIN(A + i * 1024, t, 16, 16);
    for (int j = 0; j < 4; j++) { PRELOAD(BANK + (u32)j * 16, 2 * BANK + t * 4 + (u32)j * 16); COMP(t); }
    for (int j = 0; j < 4; j++) MVOUT(C + i * 1024 + j * 16, 2 * BANK + t * 4 + (u32)j * 16, 16, 16);
  }
}
static void run(void) {
  fill(A, 65536, 16); fill(B, 32768, 17); fill_words(D, 512);
  const i8 *x, *y; i8 *z;
#define COLD(name, f, na, nb, nc) do { CASE(name, (x = (i8 *)cold(na), y = (i8 *)cold(nb), z = (i8 *)cold(nc)), f(x, y, z)); } while (0)
  COLD("cold_64x64x64", p64, 4096, 4096, 4096);
  COLD("cold_128x64x64", p128, 8192, 4096, 8192);
  COLD("cold_32x128x128", p32, 4096, 16384, 4096);
  CASE("dirty_64x64x64", (rewrite(A, 4096, 0x0102030401020304ul), rewrite(B, 4096, 0x0100020103010201ul)), p64(A, B, C)); shown("dirty_64x64x64", C, 4096);
  CASE("dirty_c_128x64x64", rewrite(C, 8192, 0), p128(A, B, C)); shown("dirty_c_128x64x64", C, 8192);
  COLD("cold_sum_96x128", sum4, 12288, 12288, 12288);
  DO("sum6_96x128", 12288, sum4(A, A + 16384, C));
  DO("sum8_relu_128x64", 8192, sum8(A, A + 16384, C));
  DO("sum4_64x320", 20480, sum_wide(A, A + 32768, C));
  DO("split_64x64x64", 4096, split(64, 64, 64));
  DO("split_32x96x128", 3072, split(32, 96, 128));
  DO("repitch_192_to_256", 128 * 256, repitch(128, 192, 192, 256));
  DO("repitch_128_to_80", 64 * 80, repitch(64, 64, 128, 80));
  DO("inside_256", 16384, inside(256));
  DO("inside_1024", 65536, inside(1024));
  DO("inside_100", 6400, inside(100));
  DO("through_spad_x16", 16384, through_spad(16));
}
