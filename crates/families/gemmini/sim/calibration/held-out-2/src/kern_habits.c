/* Schedules as they are found in kernels that somebody wrote in a hurry: configurations in loops, three load states
   with different pitches, deep buffers, bias repeated by a stride of zero, results at full width, sums by loading. */
#include "blocks.h"
/* one load state, configured again for every operand; bias row by row of tiles */
static NOINLINE void one_state(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 1, -2);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    cfg_ld(0, 0); MVIN(D + j * 16, AC_NEW + (u32)(j & 7) * 16, 16, 16);
    for (int k = 0; k < K / 16; k++) {
      const u32 t = (u32)(k & 7) * 16;
      cfg_ld((u64)K, 0); MVIN(A + i * 16 * K + k * 16, t, 16, 16);
      cfg_ld((u64)N, 0); MVIN(B + k * 16 * N + j * 16, BANK + t, 16, 16);
      PRELOAD(BANK + t, AC_SUM + (u32)(j & 7) * 16); COMP(t);
    }
    MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)(j & 7) * 16, 16, 16);
  }
}
/* every configuration anew for every tile of C */
static NOINLINE void all_anew(int M, int N, int K) {
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    cfg_ex(1, 0, 0, 0); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1); cfg_st((u64)N, 0, -1);
    for (int k = 0; k < K / 16; k++) {
      const u32 t = (u32)(((i + j) & 1) * 256 + k * 16);
      MVIN(A + i * 16 * K + k * 16, t, 16, 16); MVIN2(B + k * 16 * N + j * 16, 2 * BANK + t, 16, 16);
      PRELOAD(2 * BANK + t, (k ? AC_SUM : AC_NEW) + (u32)(j & 3) * 16); COMP(t);
    }
    MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)(j & 3) * 16, 16, 16);
  }
}
/* N buffers in a ring over the whole scratchpad, loads D steps ahead */
INL void ring(int M, int N, int K, int deep, int ahead, u32 step) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  const int nk = K / 64, nj = N / 64, all = M / 16 * nj * nk;
  for (int t = -ahead; t < all; t++) {
    const int f = t + ahead;
    if (f < all) {
      const int k = f % nk, j = f / nk % nj, i = f / nk / nj; const u32 s = (u32)(f % deep) * step;
      MVIN(A + i * 16 * K + k * 64, s, 64, 16);
      for (int q = 0; q < 4; q++) MVIN2(B + (k * 64 + q * 16) * N + j * 64, 2 * BANK + s * 2 + (u32)q * 64, 64, 16);
    }
    if (t >= 0) {
      const int k = t % nk, j = t / nk % nj, i = t / nk / nj; const u32 s = (u32)(t % deep) * step, h = (u32)((t / nk) & 1) * 512;
      for (int y = 0; y < 4; y++) for (int q = 0; q < 4; q++) {
        PRELOAD(2 * BANK + s * 2 + (u32)(q * 64 + y * 16), (k + q ? AC_SUM : AC_NEW) + h + (u32)y * 16); COMP(s + (u32)q * 16);
      }
      if (k == nk - 1) MVOUT(C + i * 16 * N + j * 64, AC_NEW + h, 64, 16);
    }
  }
}
static NOINLINE void ring2(void) { ring(64, 64, 128, 2, 1, 1024); }
static NOINLINE void ring4(void) { ring(64, 128, 128, 4, 3, 512); }
static NOINLINE void ring3(void) { ring(48, 128, 192, 3, 2, 1024); }
static NOINLINE void ring1(void) { ring(48, 64, 128, 1, 0, 1024); }
/* B wide, A narrow: three states, the third for the same matrix with another block stride */
static NOINLINE void three_pitches(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld_full((u64)K, 0, 0, 64); cfg_ld_full((u64)N, 1, 0, 16); cfg_ld_full((u64)(2 * K), 2, 0, 32);
  for (int i = 0; i < M / 32; i++) {
    for (int k = 0; k < K; k += 64) { MVIN(A + i * 32 * K + k, (u32)k, 64, 16); MVIN3(A + (i * 32 + 1) * K + k, 1024 + (u32)k * 2, 64, 8); }
    for (int j = 0; j < N / 64; j++) {
      for (int k = 0; k < K / 16; k++) MVIN2(B + k * 16 * N + j * 64, 2 * BANK + (u32)((j & 1) * 1024 + k * 64), 64, 16);
      for (int k = 0; k < K / 16; k++) for (int y = 0; y < 4; y++) {
        const u32 b = 2 * BANK + (u32)((j & 1) * 1024 + k * 64 + y * 16);
        PRELOAD(b, (k ? AC_SUM : AC_NEW) + (u32)y * 32); COMP((u32)(k / 4 * 64 + k % 4 * 64));
        PRELOAD_R(b, (k ? AC_SUM : AC_NEW) + (u32)y * 32 + 16, 8); COMP_R(1024 + (u32)(k / 4 * 128 + k % 4 * 32), 8);
      }
      for (int y = 0; y < 4; y++) { MVOUT(C + i * 32 * N + j * 64 + y * 16, AC_NEW + (u32)y * 32, 16, 16); MVOUT(C + (i * 32 + 16) * N + j * 64 + y * 16, AC_NEW + (u32)y * 32 + 16, 16, 8); }
    }
  }
}
/* results twice: int32 rows to one place, bytes to another, the store configured in between */
static NOINLINE void both_widths(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1); cfg_ld(0, 2);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    const u32 o = (u32)((i + j) & 1) * 512;
    MVIN3(D + j * 16, AC_NEW + o, 16, 16);
    for (int k = 0; k < K / 16; k++) {
      const u32 t = (u32)(((j & 1) * 8 + k) * 16);
      MVIN(A + i * 16 * K + k * 16, t, 16, 16); MVIN2(B + k * 16 * N + j * 16, BANK + t, 16, 16); PRELOAD(BANK + t, AC_SUM + o); COMP(t);
    }
    cfg_st((u64)N * 4, 0, 0); MVOUT((i32 *)E + i * 16 * N + j * 16, AC_WIDE + o, 16, 16);
    cfg_st((u64)N, 1, -3); MVOUT(C + i * 16 * N + j * 16, AC_NEW + o, 16, 16);
  }
}
/* one row, many weights; the array is filled for a row each */
static NOINLINE void vector_times(int N, int K, int keep) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -2); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int k = 0; k < K; k += 64) MVIN(A + k, (u32)k, 64, 1);
  for (int j = 0; j < N; j += 64) {
    for (int k = 0; k < K / 16; k++) {
      const u32 s = BANK + (u32)((keep ? k : k & 3) * 64 + (j / 64 & 1) * 2048);
      MVIN2(B + k * 16 * N + j, s, 64, 16);
      for (int y = 0; y < 4; y++) { PRELOAD_R(s + (u32)y * 16, (k ? AC_SUM : AC_NEW) + (u32)y * 16, 1); COMP_R((u32)(k / 4 * 64 + k % 4 * 16), 1); }
    }
    MVOUT(C + j, AC_NEW, 64, 1);
  }
}
/* odd sizes without any care: rows and columns that are left over go alone */
static NOINLINE void remainders(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int i = 0; i < M; i += 16) for (int j = 0; j < N; j += 16) {
    const u64 r = (u64)least(16, M - i), w = (u64)least(16, N - j);
    for (int k = 0; k < K; k += 16) {
      const u64 d = (u64)least(16, K - k); const u32 t = (u32)(k / 16 & 7) * 16;
      MVIN(A + i * K + k, t, d, r); MVIN2(B + k * N + j, BANK + t, w, d);
      GEM(F_PRELOAD, loc(BANK + t, w, d), loc((k ? AC_SUM : AC_NEW) + (u32)(j / 16 & 3) * 16, w, r)); GEM(F_COMP, loc(t, d, r), loc(NOADDR, 16, 16));
    }
    MVOUT(C + i * N + j, AC_NEW + (u32)(j / 16 & 3) * 16, w, r);
  }
}
/* sums of several products by loading into the accumulator, scaled on the way */
static NOINLINE void gathered(int n, int tiles) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -2); cfg_ld_full(64, 0, 1, 16);
  GEM(F_CONFIG, (P2F(1) << 32) | (16u << 16) | (1u << 8) | (1u << 3) | (1u << 2) | 1, 64);
  for (int t = 0; t < tiles; t++) {
    const u32 o = (u32)(t & 3) * 64;
    for (int s = 0; s < n; s++) for (int q = 0; q < 4; q++) {
      const i8 *p = A + s * 8192 + t * 1024 + q * 16;
      if (s & 1) MVIN2(p, AC_SUM + o + (u32)q * 16, 16, 16); else MVIN(p, (s ? AC_SUM : AC_NEW) + o + (u32)q * 16, 16, 16);
    }
    MVOUT(C + t * 1024, AC_NEW + o, 64, 16);
  }
}
static NOINLINE void square16(void) { blocks(A, B, C, D, 16, 16, 16, 1, 1, 1, 0, 0, 0); }
static NOINLINE void many16(int n) { KEEP_LOOP for (int t = 0; t < n; t++) blocks(A + t * 256, B, C + t * 256, D, 16, 16, 16, 1, 1, 1, 0, 0, 0); }
static NOINLINE void fenced16(int n) { KEEP_LOOP for (int t = 0; t < n; t++) { blocks(A + t * 256, B, C + t * 256, D, 16, 16, 16, 1, 1, 1, 0, 0, 0); FENCE(); } }
static void run(void) {
  fill(A, 131072, 41); fill(B, 65536, 42); fill_words(D, 512);
  DO("one_state_64x64x64", 4096, one_state(64, 64, 64));
  DO("one_state_32x128x96", 4096, one_state(32, 128, 96));
  DO("all_anew_64x64x64", 4096, all_anew(64, 64, 64));
  DO("all_anew_64x64x256", 4096, all_anew(64, 64, 256));
  DO("ring2_64x64x128", 4096, ring2());
  DO("ring4_64x128x128", 8192, ring4());
  DO("ring3_48x128x192", 6144, ring3());
  DO("ring1_48x64x128", 3072, ring1());
  DO("three_pitches_96x128x128", 8192, three_pitches(96, 128, 128));
  DO("both_widths_64x64x64", 4096, both_widths(64, 64, 64));
  DO("both_widths_32x96x32", 3072, both_widths(32, 96, 32));
  DO("vector_256x256", 256, vector_times(256, 256, 1));
  DO("vector_512x64", 512, vector_times(512, 64, 0));
  DO("remainders_50x50x50", 2496, remainders(50, 50, 50));
  DO("remainders_33x17x129", 560, remainders(33, 17, 129));
  DO("remainders_7x100x40", 696, remainders(7, 100, 40));
  DO("gathered_4_x8", 8192, gathered(4, 8));
  DO("square16", 256, square16());
  DO("many16_x32", 8192, many16(32));
  DO("fenced16_x12", 3072, fenced16(12));
}
