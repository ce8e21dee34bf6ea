/* Operands where the L2 likes them least, and products whose traffic is larger than it. */
#include "blocks.h"
#define FAR(n) ((n) * 65536)
static NOINLINE void pitched(const i8 *a, const i8 *b, i8 *c, int M, int N, int K, u64 pa, u64 pb, u64 pc, int two) {
  cfg_ex(1, 0, 0, 0); cfg_st(pc, 0, -2); cfg_ld(pa, 0); cfg_ld(pb, 1);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    const u32 o = (u32)(j & 1) * 512;
    for (int k = 0; k < K / 16; k++) {
      const u32 t = (u32)((two ? (i * (N / 16) + j) & 1 : 0) * 512 + k * 16);
      MVIN(a + (u64)(i * 16) * pa + (u64)k * 16, t, 16, 16); MVIN2(b + (u64)(k * 16) * pb + (u64)j * 16, 2 * BANK + t, 16, 16);
      PRELOAD(2 * BANK + t, (k ? AC_SUM : AC_NEW) + o); COMP(t);
    }
    MVOUT(c + (u64)(i * 16) * pc + (u64)j * 16, AC_NEW + o, 16, 16);
  }
}
static NOINLINE void copy(const i8 *a, i8 *c, int n, u64 pa, u64 pc, u64 w) {
  cfg_st(pc, 0, 0); cfg_ld(pa, 0);
  for (int i = 0; i < n; i++) {
    MVIN(a + (u64)(i * 16) * pa, (u32)(i & 15) * 64, w, 16);
    for (u64 q = 0; q < w; q += 16) MVOUT(c + (u64)(i * 16) * pc + q, (u32)((i & 15) * 64 + q), 16, 16);
  }
}
static NOINLINE void sums(const i8 *x, const i8 *y, i8 *o, int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, 0); cfg_ld_full(64, 0, 1, 16); cfg_ld_full(64, 1, 1, 16);
  for (int t = 0; t < n; t++) {
    const u32 h = (u32)(t & 7) * 64;
    MVIN(x + t * 1024, AC_NEW + h, 64, 16);
    if (t) { MVIN2(y + t * 1024 - 1024, AC_SUM + (h + 448) % 512, 64, 16); MVOUT(o + t * 1024 - 1024, AC_NEW + (h + 448) % 512, 64, 16); }
  }
  MVIN2(y + n * 1024 - 1024, AC_SUM + (u32)((n - 1) & 7) * 64, 64, 16); MVOUT(o + n * 1024 - 1024, AC_NEW + (u32)((n - 1) & 7) * 64, 64, 16);
}
/* one block of A against weights that come from memory and go */
static NOINLINE void weights(const i8 *b, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -3); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int k = 0; k < K; k += 64) MVIN(A + k, (u32)k, 64, 16);
  for (int j = 0; j < N; j += 64) {
    for (int k = 0; k < K / 16; k++) {
      const u32 s = BANK + (u32)((j / 64 * (K / 16) + k) & 31) * 64;
      MVIN2(b + k * 16 * N + j, s, 64, 16);
      for (int y = 0; y < 4; y++) { PRELOAD(s + (u32)y * 16, (k ? AC_SUM : AC_NEW) + (u32)((j / 64 & 1) * 512 + y * 16)); COMP((u32)k * 16); }
    }
    MVOUT(C + j, AC_NEW + (u32)(j / 64 & 1) * 512, 64, 16);
  }
}
static void run(void) {
  fill(A, 131072, 61); fill(B, 65536, 62); fill_words(D, 512);
  i8 *z = (i8 *)cold(7u << 20);
  DO("pitch_4096", 64, pitched(z, z + 64, z + 128, 48, 32, 48, 4096, 4096, 4096, 1));
  DO("pitch_4096_apart", 64, pitched(z, z + FAR(16), z + FAR(32), 32, 48, 64, 4096, 4096, 4096, 1));
  DO("pitch_1024_b_4096", 64, pitched(z, z + FAR(16), C, 48, 48, 64, 1024, 4096, 64, 1));
  DO("pitch_2064", 64, pitched(z, z + FAR(16), z + FAR(32), 48, 48, 64, 2064, 2064, 2064, 1));
  DO("pitch_2112_one", 64, pitched(z, z + FAR(16), C, 48, 48, 64, 2112, 2112, 48, 0));
  DO("pitch_65536", 64, pitched(z, B, C, 32, 32, 32, 65536, 32, 32, 1));
  DO("pitch_32768_c", 64, pitched(A, B, z, 48, 32, 32, 32, 32, 32768, 1));
  DO("off_3_5_7", 4096, pitched(A + 3, B + 5, C + 7, 48, 48, 64, 64, 48, 48, 1));
  DO("off_60_pitch_100", 4096, pitched(A + 60, B + 60, C + 60, 48, 48, 64, 100, 100, 100, 1));
  DO("copy_512K", 64, copy(z, z + (1 << 20), 256, 64, 64, 64));
  DO("copy_pitch_192_to_80", 4096, copy(A, C, 40, 192, 80, 64));
  DO("copy_pitch_4096", 64, copy(z, z + 2048, 40, 4096, 4096, 64));
  DO("sums_320K_each", 64, sums(z, z + (1 << 20), z + (2 << 20), 320));
  DO("sums_in_l2", 64, sums(A, A + 65536, C, 60));
  DO("weights_512K", 64, weights(z, 1024, 512));
  DO("weights_192K", 64, weights(z, 768, 256));
  DO("weights_1024K", 64, weights(z, 2048, 512));
}
