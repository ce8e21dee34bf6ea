/* Rows picked one by one, blocks that are there or not, results scattered, triangles, bands. */
#include "blocks.h"
static u32 at[1024] ALIGNED(64);
static u32 state = 7;
static u32 next(u32 n) { state = state * 1664525u + 1013904223u; return (state >> 8) % n; }
/* rows of a table by number, then a product */
static NOINLINE void picked(int rows, int width, int N) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)width, 0); cfg_ld((u64)N, 1);
  for (int k = 0; k < width / 16; k++) for (int j = 0; j < N; j += 64) MVIN2(B + k * 16 * N + j, BANK + (u32)(k * N + j), (u64)least(64, N - j), 16);
  for (int i = 0; i < rows; i += 16) {
    const u32 t = (u32)(i / 16 & 1) * 512;
    for (int r = 0; r < 16; r++) MVIN(A + at[i + r] * (u32)width, t + (u32)r, (u64)width, 1);
    for (int j = 0; j < N / 16; j++) {
      for (int k = 0; k < width / 16; k++) { PRELOAD(BANK + (u32)(k * N + j * 16), (k ? AC_SUM : AC_NEW) + (u32)j * 16 + t); COMP(t + (u32)k * 16); }
      MVOUT(C + i * N + j * 16, AC_NEW + (u32)j * 16 + t, 16, 16);
    }
  }
}
/* only some blocks of A, told by a list */
static NOINLINE void some_blocks(int ni, int nj, int nk, u32 share) {
  const int N = nj * 16, K = nk * 16;
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int k = 0; k < nk; k++) for (int j = 0; j < nj; j += 4) MVIN2(B + k * 16 * N + j * 16, BANK + (u32)(k * nj + j) * 16, (u64)least(4, nj - j) * 16, 16);
  for (int i = 0; i < ni; i++) {
    u32 any = 0;
    KEEP_LOOP for (int k = 0; k < nk; k++) {
      if (at[i * nk + k] % 8 >= share) continue;
      MVIN(A + i * 16 * K + k * 16, (u32)(k & 7) * 16, 16, 16);
      KEEP_LOOP for (int j = 0; j < nj; j++) { PRELOAD(BANK + (u32)(k * nj + j) * 16, (any ? AC_SUM : AC_NEW) + (u32)j * 16); COMP((u32)(k & 7) * 16); }
      any = 1;
    }
    if (any) KEEP_LOOP for (int j = 0; j < nj; j++) MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)j * 16, 16, 16);
  }
}
/* each row of the result goes somewhere else */
static NOINLINE void scattered(int M, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 1, -1); cfg_ld((u64)K, 0); cfg_ld(64, 1);
  for (int k = 0; k < K / 16; k++) MVIN2(B + k * 1024, BANK + (u32)k * 64, 64, 16);
  for (int i = 0; i < M / 16; i++) {
    const u32 h = (u32)(i & 1) * 512;
    for (int k = 0; k < K; k += 64) MVIN(A + i * 16 * K + k, (u32)((i & 1) * 256 + k), (u64)least(64, K - k), 16);
    for (u32 j = 0; j < 4; j++) for (int k = 0; k < K / 16; k++) { PRELOAD(BANK + (u32)k * 64 + j * 16, (k ? AC_SUM : AC_NEW) + h + j * 16); COMP((u32)((i & 1) * 256 + k * 16)); }
    for (u32 r = 0; r < 16; r++) MVOUT(C + at[i * 16 + (int)r] * 64, AC_NEW + h + r, 64, 1);
  }
}
/* lower triangle of A only */
static NOINLINE void triangle(int n, int nj) {
  const int N = nj * 16, K = n * 16;
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int i = 0; i < n; i++) for (int j = 0; j < nj; j += 2) {
    const u32 c = (u32)((i * nj + j) & 14) * 16;
    for (int k = 0; k <= i; k++) {
      const u32 t = (u32)(k & 3) * 16;
      MVIN(A + i * 16 * K + k * 16, t, 16, 16);
      MVIN2(B + k * 16 * N + j * 16, 2 * BANK + t * 2, 32, 16);
      for (u32 y = 0; y < 2; y++) { PRELOAD(2 * BANK + t * 2 + y * 16, (k ? AC_SUM : AC_NEW) + c + y * 16); COMP(t); }
    }
    MVOUT(C + i * 16 * N + j * 16, AC_NEW + c, 32, 16);
  }
}
/* a band of one block beside the diagonal */
static NOINLINE void band(int n) {
  const int K = n * 16;
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -1); cfg_ld((u64)K, 0); cfg_ld(64, 1);
  for (int k = 0; k < n; k++) MVIN2(B + k * 1024, 2 * BANK + (u32)k * 64, 64, 16);
  for (int i = 0; i < n; i++) {
    const int lo = i ? i - 1 : 0, hi = least(n - 1, i + 1); const u32 t = (u32)(i & 1) * 64;
    MVIN(A + i * 16 * K + lo * 16, t, (u64)(hi - lo + 1) * 16, 16);
    for (u32 j = 0; j < 4; j++) for (int k = lo; k <= hi; k++) { PRELOAD(2 * BANK + (u32)k * 64 + j * 16, (k > lo ? AC_SUM : AC_NEW) + (u32)(i & 1) * 512 + j * 16); COMP(t + (u32)(k - lo) * 16); }
    MVOUT(C + i * 1024, AC_NEW + (u32)(i & 1) * 512, 64, 16);
  }
}
/* depthwise by diagonal weights: nine taps, sixteen channels a pass */
static NOINLINE void taps(int side, int ch) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)ch, 0, -1); cfg_ld((u64)ch, 0); cfg_ld(16, 1);
  for (int c = 0; c < ch; c += 16) {
    for (int p = 0; p < 9; p++) MVIN2(E + (c / 16 * 9 + p) * 256, BANK + (u32)p * 16, 16, 16);
    for (int y = 0; y < side; y++) {
      const u32 o = (u32)(y & 3) * 16;
      MVIN(A + y * (side + 2) * ch + c, (u32)(y % 3) * 32, 16, (u64)side + 2);
      if (y < 2) continue;
      for (int p = 0; p < 9; p++) { PRELOAD_R(BANK + (u32)p * 16, (p ? AC_SUM : AC_NEW) + o, (u64)side); COMP_R((u32)((y - 2 + p / 3) % 3) * 32 + (u32)(p % 3), (u64)side); }
      MVOUT(C + (y - 2) * side * ch + c, AC_NEW + o, 16, (u64)side);
    }
  }
}
static void run(void) {
  fill(A, 65536, 23); fill(B, 16384, 24); fill(E, 16384, 25);
  for (int i = 0; i < 1024; i++) at[i] = next(512);
  DO("picked_96x32x64", 96 * 64, picked(96, 32, 64));
  DO("picked_64x64x32", 64 * 32, picked(64, 64, 32));
  DO("blocks_3of8_8x4x8", 128 * 64, some_blocks(8, 4, 8, 3));
  DO("blocks_6of8_6x4x8", 96 * 64, some_blocks(6, 4, 8, 6));
  DO("scattered_96x64x48", 32768, scattered(96, 48));
  DO("triangle_8x4", 128 * 64, triangle(8, 4));
  DO("band_12", 192 * 64, band(12));
  DO("taps_14x32", 12 * 14 * 32, taps(14, 32));
}
