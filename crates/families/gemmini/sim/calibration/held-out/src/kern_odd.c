/* Operands at odd places, with awkward pitches; pooled results; images read with a step; loops beside plain commands. */
#include "blocks.h"
INL void cfg_pool(u64 stride, int act, int e, u64 size, u64 step, u64 odim, u64 por, u64 poc, u64 orr, u64 oc) {
  GEM(F_CONFIG, (oc << 56) | (orr << 48) | (poc << 40) | (por << 32) | (odim << 24) | (size << 6) | (step << 4) | ((u64)act << 2) | 2, (P2F(e) << 32) | stride);
}
INL void cfg_ex_step(u64 step) { GEM(F_CONFIG, (P2F(0) << 32) | (step << 16) | (1ul << 2), 1ul << 48); }
#define AT(name, ti, tj, tk, fl, M, N, K, sh) static NOINLINE void name(const i8 *a, const i8 *b, i8 *c) { blocks(a, b, c, D, M, N, K, ti, tj, tk, fl, 0, sh); }
AT(o1, 2, 2, 4, TWO, 64, 64, 64, -1)
AT(o2, 4, 4, 2, WIDE, 64, 80, 48, -1)
AT(o3, 1, 4, 4, TWO | ROWBIAS, 48, 64, 100, -1)
AT(o4, 2, 4, 4, TWO | LATE | WIDE, 64, 128, 64, -1)
AT(o5, 3, 2, 2, FULL | KIN, 48, 64, 64, 0)
/* rows of a band of the image stay in the scratchpad; steps in A's address make the convolution */
static NOINLINE void stepped(int od, int ic, int oc, int step) {
  const int in = od * step + 2;
  cfg_ex_step((u64)step); cfg_st((u64)oc, 0, -2); cfg_ld_full((u64)ic, 0, 0, 64); cfg_ld((u64)oc, 1);
  for (int p = 0; p < 9; p++) for (int q = 0; q < ic / 16; q++) MVIN2(B + (p * ic + q * 16) * oc, 2 * BANK + (u32)(p * (ic / 16) + q) * 64, (u64)oc, 16);
  for (int y = 0; y < od; y++) {
    for (int r = 0; r < 3; r++) for (int x = 0; x < in; x += 16)
      MVIN(A + ((y * step + r) * in + x) * ic, (u32)((y & 1) * 1024 + r * 256 + x), (u64)ic, (u64)least(16, in - x));
    const u32 c = (u32)(y & 1) * 64;
    for (int o = 0; o < oc / 16; o++) {
      int first = 1;
      for (int p = 0; p < 9; p++) for (int q = 0; q < ic / 16; q++) {
        PRELOAD_R(2 * BANK + (u32)((p * (ic / 16) + q) * 64 + o * 16), (first ? AC_NEW : AC_SUM) + c + (u32)o * 16, (u64)od);
        COMP_R((u32)((y & 1) * 1024 + p / 3 * 256 + q * 64 + p % 3), (u64)od); first = 0;
      }
      MVOUT(C + y * od * oc + o * 16, AC_NEW + c + (u32)o * 16, 16, (u64)od);
    }
  }
}
/* a product whose rows are pixels; its results leave pooled */
static NOINLINE void pooled_product(int side, int N, int K) {
  const int rows = side * side / 16;
  cfg_ex(1, 0, 0, 0); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  cfg_pool((u64)N, 1, -1, 2, 2, (u64)side / 2, (u64)side / 2, (u64)side / 2, (u64)side, (u64)side);
  for (int j = 0; j < N / 16; j++) {
    for (int k = 0; k < K / 16; k++) MVIN2(B + k * 16 * N + j * 16, 2 * BANK + (u32)((j & 1) * 256 + k * 16), 16, 16);
    for (int i = 0; i < rows; i++) {
      if (j == 0) for (int k = 0; k < K; k += 64) MVIN(A + i * 16 * K + k, (u32)(i * K + k), (u64)least(64, K - k), 16);
      for (int k = 0; k < K / 16; k++) { PRELOAD(2 * BANK + (u32)((j & 1) * 256 + k * 16), (k ? AC_SUM : AC_NEW) + (u32)((j & 1) * 512 + i * 16)); COMP((u32)(i * K + k * 16)); }
    }
    MVOUT(C + j * 16, AC_NEW + (u32)(j & 1) * 512, 16, 0);
  }
}
/* a hardware loop, plain commands while it works, another loop */
static NOINLINE void loop_and_plain(int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -1); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2);
  for (int i = 0; i < n; i++) {
    loop_ws(2, 4, 4, 0, 0, 0, A + i * 2048, B, 0, C + i * 2048, 64, 64, 0, 64, 0, 0);
    MVIN3(E + i * 1024, 2 * BANK + 2048, 64, 16);
    for (u32 t = 0; t < 4; t++) { PRELOAD(2 * BANK + 2048 + t * 16, AC_NEW + 896 + t * 16); COMP(2 * BANK + 2048); }
    MVOUT(C + 32768 + i * 1024, AC_NEW + 896, 64, 16);
  }
}
/* the core prepares the next operand while the accelerator multiplies */
static NOINLINE void prepared(int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -1); cfg_ld(64, 0); cfg_ld(64, 1);
  for (u32 k = 0; k < 4; k++) MVIN2(B + k * 1024, BANK + k * 64, 64, 16);
  for (int i = 0; i < n; i++) {
    i8 *e = E + (i & 3) * 1024;
    if (i >= 4) FENCE();
    KEEP_LOOP for (int t = 0; t < 1024; t += 8) *(u64 *)(e + t) = *(const u64 *)(A + i * 1024 + t) ^ 0x0101010101010101ul;
    MVIN(e, (u32)(i & 3) * 64, 64, 16);
    for (u32 j = 0; j < 4; j++) for (u32 k = 0; k < 4; k++) { PRELOAD(BANK + k * 64 + j * 16, (k ? AC_SUM : AC_NEW) + (u32)(i & 1) * 512 + j * 16); COMP((u32)(i & 3) * 64 + k * 16); }
    MVOUT(C + i * 1024, AC_NEW + (u32)(i & 1) * 512, 64, 16);
  }
}
/* results read by the core a block behind, without a fence in between other than one a block */
static NOINLINE i64 consumed(int n) {
  i64 s = 0;
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -1); cfg_ld(64, 0); cfg_ld(64, 1);
  for (u32 k = 0; k < 4; k++) MVIN2(B + k * 1024, BANK + k * 64, 64, 16);
  for (int i = 0; i < n; i++) {
    MVIN(A + i * 1024, (u32)(i & 3) * 64, 64, 16);
    for (u32 j = 0; j < 4; j++) for (u32 k = 0; k < 4; k++) { PRELOAD(BANK + k * 64 + j * 16, (k ? AC_SUM : AC_NEW) + (u32)(i & 1) * 512 + j * 16); COMP((u32)(i & 3) * 64 + k * 16); }
    MVOUT(C + i * 1024, AC_NEW + (u32)(i & 1) * 512, 64, 16);
    FENCE();
    KEEP_LOOP for (int t = 0; t < 1024; t += 64) s += C[i * 1024 + t];
  }
  return s;
}
static volatile i64 sink;
static void run(void) {
  fill(A, 65536, 18); fill(B, 32768, 19); fill(E, 16384, 20); fill_words(D, 512);
  DO("odd_a1_64x64x64", 4096, o1(A + 1, B, C));
  DO("odd_b8_c16_64x64x64", 4096, o1(A, B + 8, C + 16));
  DO("odd_all3_64x80x48", 5120, o2(A + 3, B + 3, C + 3));
  DO("odd_k100_rowbias_48x64x100", 3072, o3(A, B, C));
  DO("odd_c40_late_64x128x64", 8192, o4(A, B + 32, C + 40));
  DO("odd_full_c4_48x64x64", 12288, o5(A + 48, B, C + 4));
  DO("stepped1_14x16x32", 14 * 14 * 32, stepped(14, 16, 32, 1));
  DO("stepped2_12x32x16", 12 * 12 * 16, stepped(12, 32, 16, 2));
  DO("pooled_8x8x48x64", 16 * 48, pooled_product(8, 48, 64));
  DO("pooled_16x16x32x32", 64 * 32, pooled_product(16, 32, 32));
  DO("loop_and_plain_x6", 32768, loop_and_plain(6));
  DO("prepared_x12", 12288, prepared(12));
  DO("consumed_x12", 12288, sink = consumed(12));
}
