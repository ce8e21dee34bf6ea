/* Larger algorithms of which products are a part, and the core does the rest. */
#include "blocks.h"
static i8 S[32768] ALIGNED(64), T[32768] ALIGNED(64);
static i32 W[8192] ALIGNED(64);
static float F[4096] ALIGNED(64), G[4096] ALIGNED(64);
static NOINLINE void prod(const i8 *a, const i8 *b, void *c, int M, int N, int K, int full) { if (full) blocks(a, b, c, D, M, N, K, 2, 2, 4, FULL | TWO, 0, 0); else blocks(a, b, c, D, M, N, K, 2, 4, 4, TWO | WIDE, 0, -2); }
/* sums of quarters by the core, then products of them */
static NOINLINE void quarters(const i8 *x, i8 *o, int n, int sign) { for (int i = 0; i < n / 2; i++) KEEP_LOOP for (int j = 0; j < n / 2; j++) o[i * (n / 2) + j] = (i8)(x[i * n + j] + sign * x[(i + n / 2) * n + j + n / 2]); }
static NOINLINE void fast_product(int n) {
  quarters(A, S, n, 1); quarters(B, S + 4096, n, 1); prod(S, S + 4096, C, n / 2, n / 2, n / 2, 0);
  quarters(A, T, n, -1); quarters(B, T + 4096, n, -1); prod(T, T + 4096, C + 4096, n / 2, n / 2, n / 2, 0);
}
/* distances of points to centres, nearest centre, new centres */
static NOINLINE void nearest(int points, int centres, int dim) {
  prod(A, B, W, points, centres, dim, 1); FENCE();
  KEEP_LOOP for (int c = 0; c < centres * dim; c++) S[c] = 0;
  KEEP_LOOP for (int p = 0; p < points; p++) {
    int best = 0; i32 v = W[p * centres];
    KEEP_LOOP for (int c = 1; c < centres; c++) { i32 d = W[p * centres + c] - D[c]; if (d > v) { v = d; best = c; } }
    C[p] = (i8)best;
    KEEP_LOOP for (int d = 0; d < dim; d++) S[best * dim + d] = (i8)(S[best * dim + d] + A[p * dim + d]);
  }
}
static NOINLINE void normalized(const i32 *w, i8 *o, int rows, int n) {
  KEEP_LOOP for (int r = 0; r < rows; r++) {
    float m = 0, v = 0;
    KEEP_LOOP for (int i = 0; i < n; i++) { float x = (float)w[r * n + i]; F[i] = x; m += x; }
    m *= 1.0f / (float)n;
    KEEP_LOOP for (int i = 0; i < n; i++) { float x = F[i] - m; v += x * x; }
    float s; __asm__("fsqrt.s %0, %1" : "=f"(s) : "f"(v + 1)); s = 64 / s;
    KEEP_LOOP for (int i = 0; i < n; i++) { float x = (F[i] - m) * s; o[r * n + i] = (i8)(int)(x > 127 ? 127 : x < -128 ? -128 : x); }
  }
}
static NOINLINE void then_normalized(int M, int N, int K) { prod(A, B, W, M, N, K, 1); FENCE(); normalized(W, C, M, N); }
/* two rows of a factorization by the core, the rest updated by a product */
static NOINLINE void factor(int n, int steps) {
  for (int s = 0; s < steps; s++) {
    KEEP_LOOP for (int i = s + 1; i < n; i++) { int p = S[s * n + s] | 1; i8 q = (i8)(S[i * n + s] * 16 / p); T[i * 16] = q; }
    FENCE();
    cfg_ex(1, 0, 0, 0); cfg_st((u64)n, 0, 0); cfg_ld(16, 0); cfg_ld((u64)n, 1); cfg_ld_full((u64)n, 2, 1, 16);
    for (int j = 0; j < n; j += 16) MVIN2(S + s * n + j, BANK + (u32)j, 16, 1);
    for (int i = 0; i < n; i += 16) {
      MVIN(T + i * 16, (u32)i, 1, 16);
      for (int j = 0; j < n; j += 16) {
        const u32 c = (u32)(j & 31) * 4;
        MVIN3(S + i * n + j, AC_NEW + c, 16, 16);
        GEM(F_PRELOAD, loc(BANK + (u32)j, 16, 1), loc(AC_SUM + c, 16, 16)); GEM(F_COMP, loc((u32)i, 1, 16), loc(NOADDR, 16, 16));
        MVOUT(S + i * n + j, AC_NEW + c, 16, 16);
      }
    }
    FENCE();
  }
  for (int i = 0; i < 64; i++) C[i] = S[i];
}
/* floats to bytes, product, back to floats, for two layers */
static NOINLINE void with_floats(int M, int N, int K) {
  KEEP_LOOP for (int i = 0; i < M * K; i++) { float v = G[i & 1023] * 32.0f; S[i] = (i8)(int)v; }
  FENCE(); prod(S, B, W, M, N, K, 1); FENCE();
  KEEP_LOOP for (int i = 0; i < M * N; i++) { float v = (float)W[i] * 0.0078125f; F[i & 4095] = v > 0 ? v : v * 0.125f; }
  KEEP_LOOP for (int i = 0; i < M * N; i++) C[i] = (i8)(int)F[i & 4095];
}
/* one image through two layers and a pooling by the core */
static NOINLINE void image(int side, int ic, int oc) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)oc, 1, -2); cfg_ld((u64)ic, 0); cfg_ld((u64)oc, 1);
  for (int k = 0; k < ic / 16; k++) for (int j = 0; j < oc / 16; j++) MVIN2(B + k * 16 * oc + j * 16, BANK + (u32)(k * oc + j * 16), 16, 16);
  for (int y = 0; y < side; y++) {
    for (int k = 0; k < ic / 16; k++) MVIN(A + y * side * ic + k * 16, (u32)((y & 1) * 256 + k * 16), 16, (u64)side);
    for (int j = 0; j < oc / 16; j++) {
      for (int k = 0; k < ic / 16; k++) { PRELOAD_R(BANK + (u32)(k * oc + j * 16), (k ? AC_SUM : AC_NEW) + (u32)(y & 7) * 64 + (u32)j * 16, (u64)side); COMP_R((u32)((y & 1) * 256 + k * 16), (u64)side); }
      MVOUT(S + y * side * oc + j * 16, AC_NEW + (u32)(y & 7) * 64 + (u32)j * 16, 16, (u64)side);
    }
  }
  FENCE();
  KEEP_LOOP for (int c = 0; c < oc; c++) { i32 s = 0; KEEP_LOOP for (int p = 0; p < side * side; p++) s += S[p * oc + c]; C[c] = (i8)(s >> 4); }
}
static void run(void) {
  fill(A, 16384, 26); fill(B, 16384, 27); fill_words(D, 512);
  for (int i = 0; i < 1024; i++) G[i] = (float)((i * 37) & 127) / 64 - 1;
  DO("fast_product_64", 8192, fast_product(64));
  DO("nearest_64x16x32", 64, nearest(64, 16, 32));
  DO("then_normalized_24x48x64", 24 * 48, then_normalized(24, 48, 64));
  fill(S, 4096, 28);
  DO("factor_48_x4", 64, factor(48, 4));
  DO("with_floats_32x32x32", 1024, with_floats(32, 32, 32));
  DO("image_10x32x48", 48, image(10, 32, 48));
}
