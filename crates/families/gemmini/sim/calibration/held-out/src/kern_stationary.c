/* Sums that stay in the array, transposed operands, a product by an identity. */
#include "blocks.h"
/* tiles of C one by one, ta: A is stored by columns */
INL void stay(const i8 *a, const i8 *b, i8 *c, int M, int N, int K, int chunk, int ta, int act, int sh) {
  const int ni = M / 16, nj = N / 16, nk = K / 16;
  cfg_ex(0, 0, ta, 0); cfg_st((u64)N, act, sh); cfg_ld(ta ? (u64)M : (u64)K, 0); cfg_ld((u64)N, 1);
  u32 s = 0;
  for (int i = 0; i < ni; i++) for (int j = 0; j < nj; j++) {
    u32 t = (u32)((i * nj + j) & 3) * 16;
    for (int k = 0; k < nk; k += chunk) {
      const int m = least(chunk, nk - k);
      if (ta) for (int q = 0; q < m; q++) MVIN(a + (k + q) * 16 * M + i * 16, s * 256 + (u32)q * 16, 16, 16);
      else for (int q = 0; q < m; q += 4) MVIN(a + i * 16 * K + (k + q) * 16, s * 256 + (u32)q * 16, (u64)least(4, m - q) * 16, 16);
      for (int q = 0; q < m; q++) MVIN2(b + (k + q) * 16 * N + j * 16, BANK + s * 256 + (u32)q * 16, 16, 16);
      for (int q = 0; q < m; q++) {
        const int first = k + q == 0, last = k + q == nk - 1;
        PRELOAD(NOADDR, last ? AC_NEW + t : NOADDR);
        if (first) GEM(F_COMP, loc(s * 256 + (u32)q * 16, 16, 16), loc(BANK + s * 256 + (u32)q * 16, 16, 16));
        else GEM(F_COMPACC, loc(s * 256 + (u32)q * 16, 16, 16), loc(BANK + s * 256 + (u32)q * 16, 16, 16));
      }
      s ^= 1;
    }
    MVOUT(c + i * 16 * N + j * 16, AC_NEW + t, 16, 16);
  }
}
/* weights in the array, A or B transposed on its way */
INL void turned(const i8 *a, const i8 *b, i8 *c, int M, int N, int K, int ta, int tb, int act, int sh) {
  const int ni = M / 16, nj = N / 16, nk = K / 16;
  cfg_ex(1, 0, ta, tb); cfg_st((u64)N, act, sh); cfg_ld(ta ? (u64)M : (u64)K, 0); cfg_ld(tb ? (u64)K : (u64)N, 1);
  for (int j = 0; j < nj; j++) {
    for (int k = 0; k < nk; k++) MVIN2(tb ? b + j * 16 * K + k * 16 : b + k * 16 * N + j * 16, 2 * BANK + (u32)((j & 1) * nk + k) * 16, 16, 16);
    for (int i = 0; i < ni; i++) {
      u32 t = (u32)(i & 1) * 512, o = (u32)((j * ni + i) & 7) * 16;
      for (int k = 0; k < nk; k++) MVIN(ta ? a + k * 16 * M + i * 16 : a + i * 16 * K + k * 16, t + (u32)k * 16, 16, 16);
      for (int k = 0; k < nk; k++) { PRELOAD(2 * BANK + (u32)((j & 1) * nk + k) * 16, (k ? AC_SUM : AC_NEW) + o); COMP(t + (u32)k * 16); }
      MVOUT(c + i * 16 * N + j * 16, AC_NEW + o, 16, 16);
    }
  }
}
static NOINLINE void s1(void) { stay(A, B, C, 64, 64, 64, 4, 0, 0, 0); }
static NOINLINE void s2(void) { stay(A, B, C, 48, 80, 96, 6, 0, 1, -1); }
static NOINLINE void s3(void) { stay(A, B, C, 96, 32, 48, 3, 1, 0, 0); }
static NOINLINE void s4(void) { stay(A, B, C, 32, 32, 256, 8, 0, 0, -2); }
static NOINLINE void s5(void) { stay(A, B, C, 32, 96, 32, 1, 0, 0, 0); }
static NOINLINE void w1(void) { turned(A, B, C, 64, 64, 64, 1, 0, 0, 0); }
static NOINLINE void w2(void) { turned(A, B, C, 64, 48, 80, 0, 1, 1, -1); }
static NOINLINE void w3(void) { turned(A, B, C, 48, 64, 48, 0, 1, 0, 0); }
static NOINLINE void w4(void) { turned(A, B, C, 128, 32, 32, 1, 0, 0, -1); }
/* B transposed by an identity in the array, result in the scratchpad, then used from there */
static NOINLINE void by_identity(int M, int N, int K) {
  const int ni = M / 16, nj = N / 16, nk = K / 16;
  cfg_ex(1, 0, 1, 0); cfg_st((u64)N, 0, 0); cfg_ld((u64)K, 0); cfg_ld((u64)K, 1); cfg_ld(16, 2);
  MVIN3(E, 3 * BANK, 16, 16);
  for (int j = 0; j < nj; j++) for (int k = 0; k < nk; k++) {
    MVIN2(B + j * 16 * K + k * 16, BANK + 1024 + (u32)(k & 3) * 16, 16, 16);
    PRELOAD(3 * BANK, 2 * BANK + (u32)(j * nk + k) * 16);
    COMP(BANK + 1024 + (u32)(k & 3) * 16);
  }
  cfg_ex(1, 0, 0, 0);
  for (int i = 0; i < ni; i++) {
    for (int k = 0; k < nk; k += 4) MVIN(A + i * 16 * K + k * 16, (u32)((i & 1) * nk + k) * 16, (u64)least(4, nk - k) * 16, 16);
    for (int j = 0; j < nj; j++) {
      for (int k = 0; k < nk; k++) { PRELOAD(2 * BANK + (u32)(j * nk + k) * 16, (k ? AC_SUM : AC_NEW) + (u32)j * 16); COMP((u32)((i & 1) * nk + k) * 16); }
      MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)j * 16, 16, 16);
    }
  }
}
static void run(void) {
  fill(A, 16384, 5); fill(B, 16384, 6); fill_words(D, 1024);
  for (int i = 0; i < 256; i++) E[i] = i % 17 == 0;
  DO("stay4_64x64x64", 4096, s1());
  DO("stay6_relu_48x80x96", 48 * 80, s2());
  DO("stay3_ta_96x32x48", 96 * 32, s3());
  DO("stay8_32x32x256", 1024, s4());
  DO("stay1_32x96x32", 32 * 96, s5());
  DO("turned_a_64x64x64", 4096, w1());
  DO("turned_b_relu_64x48x80", 64 * 48, w2());
  DO("turned_b_48x64x48", 48 * 64, w3());
  DO("turned_a_128x32x32", 4096, w4());
  DO("identity_64x48x64", 64 * 48, by_identity(64, 48, 64));
}
