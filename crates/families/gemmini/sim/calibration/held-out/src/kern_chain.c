/* Layers in a chain, attention, recurrent cells, small products as solvers have them; the core works in between. */
#include "blocks.h"
static i8 X[4096] ALIGNED(64), Y[4096] ALIGNED(64), S[16384] ALIGNED(64);
static float F[4096] ALIGNED(64);
static i16 T[1024] ALIGNED(64);
INL void prod(const i8 *a, const i8 *b, void *c, int M, int N, int K, int ti, int tj, int tk, int fl, int act, int sh) { blocks(a, b, c, D, M, N, K, ti, tj, tk, fl, act, sh); }
/* three layers, each reads what the one before has stored */
static NOINLINE void layers(void) {
  prod(A, B, S, 32, 64, 64, 2, 4, 2, WIDE, 1, -2); FENCE();
  prod(S, B + 4096, E, 32, 96, 64, 2, 2, 4, TWO | ROWBIAS, 1, -2); FENCE();
  prod(E, B + 16384, C, 32, 32, 96, 2, 2, 2, KIN, 0, -2);
}
/* scores = Q K^T by transposing the weights, sharpened by the core in integers, times V */
static NOINLINE void scores(const i8 *q, const i8 *k, i8 *s, int L, int d) {
  cfg_ex(1, 0, 0, 1); cfg_st((u64)L, 0, -1); cfg_ld((u64)d, 0); cfg_ld((u64)d, 1);
  for (int i = 0; i < L / 16; i++) {
    for (int t = 0; t < d / 16; t++) MVIN(q + i * 16 * d + t * 16, (u32)((i & 1) * 256 + t * 16), 16, 16);
    for (int j = 0; j < L / 16; j++) {
      for (int t = 0; t < d / 16; t++) MVIN2(k + j * 16 * d + t * 16, BANK + (u32)((j & 1) * 256 + t * 16), 16, 16);
      for (int t = 0; t < d / 16; t++) { PRELOAD(BANK + (u32)((j & 1) * 256 + t * 16), (t ? AC_SUM : AC_NEW) + (u32)j * 16); COMP((u32)((i & 1) * 256 + t * 16)); }
      MVOUT(s + i * 16 * L + j * 16, AC_NEW + (u32)j * 16, 16, 16);
    }
  }
}
static NOINLINE void sharpen(i8 *s, int rows, int n) {
  KEEP_LOOP for (int r = 0; r < rows; r++) {
    int top = -128; i8 *p = s + r * n;
    KEEP_LOOP for (int i = 0; i < n; i++) if (p[i] > top) top = p[i];
    KEEP_LOOP for (int i = 0; i < n; i++) { int d = top - p[i]; p[i] = d > 6 ? 0 : (i8)(64 >> d); }
  }
}
static NOINLINE void softened(const i8 *s, i8 *o, int rows, int n) {   /* with floats: a rational stand-in for exp, a division per row */
  KEEP_LOOP for (int r = 0; r < rows; r++) {
    float sum = 0;
    KEEP_LOOP for (int i = 0; i < n; i++) { float x = (float)s[r * n + i] * 0.0625f, y = 1 + x + 0.5f * x * x; F[i] = y; sum += y; }
    float g = 100 / sum;
    KEEP_LOOP for (int i = 0; i < n; i++) o[r * n + i] = (i8)(int)(F[i] * g);
  }
}
static NOINLINE void times_v(const i8 *p, const i8 *v, int L, int d) { prod(p, v, C, L, d, L, 2, 2, 4, TWO, 0, -3); }
static NOINLINE void attend(int soft) { scores(A, A + 8192, S, 48, 64); FENCE(); if (soft) softened(S, S, 16, 48); else sharpen(S, 48, 48); times_v(S, B, 48, 64); }
/* one step of a recurrent cell: four gates from one product of a row, elementwise by the core */
static NOINLINE void gates(const i8 *x, int K, int N) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -3); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  MVIN(x, 0, (u64)least(64, K), 1); if (K > 64) MVIN(x + 64, 64, (u64)(K - 64), 1);
  for (int j = 0; j < N; j += 64) {
    for (int k = 0; k < K; k += 16) {
      u32 b = BANK + (u32)(((j / 64) & 1) * 1024 + k * 4);
      MVIN2(B + k * N + j, b, 64, 16);
      for (int t = 0; t < 4; t++) { PRELOAD_R(b + (u32)t * 16, (k ? AC_SUM : AC_NEW) + (u32)(j + t * 16), 1); COMP_R((u32)k, 1); }
    }
    MVOUT(Y + j, AC_NEW + (u32)j, 64, 1);
  }
  FENCE();
}
static NOINLINE void cell(int steps, int H) {
  for (int s = 0; s < steps; s++) {
    gates(X, 2 * H, 4 * H);
    KEEP_LOOP for (int i = 0; i < H; i++) {
      int f = Y[i], g = Y[H + i], c = T[i], o = Y[3 * H + i];
      c = (c * (f + 128) >> 8) + (g * (Y[2 * H + i] + 128) >> 8);
      c = c > 127 ? 127 : c < -128 ? -128 : c;
      T[i] = (i16)c; X[H + i] = (i8)(c * (o + 128) >> 8);
    }
  }
  for (int i = 0; i < 64; i++) C[i] = X[i];
}
/* x' = A x + B u, u = K x with 12 states and 4 inputs, results back through memory at each step */
static NOINLINE void steps(int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(1, 0, -2); cfg_ld(12, 0); cfg_ld(1, 1); cfg_ld(4, 2);
  MVIN(A, 0, 12, 12); MVIN3(A + 256, 16, 4, 12); MVIN(A + 512, 32, 12, 4);
  for (int s = 0; s < n; s++) {
    i8 *x = X + s * 16, *u = Y + s * 16;
    MVIN2(x, BANK, 1, 12);
    GEM(F_PRELOAD, loc(BANK, 1, 12), loc(AC_NEW, 1, 4)); GEM(F_COMP, loc(32, 12, 4), loc(NOADDR, 16, 16));
    MVOUT(u, AC_NEW, 1, 4);
    FENCE();
    MVIN2(u, BANK + 16, 1, 4);
    GEM(F_PRELOAD, loc(BANK, 1, 12), loc(AC_NEW + 16, 1, 12)); GEM(F_COMP, loc(0, 12, 12), loc(NOADDR, 16, 16));
    GEM(F_PRELOAD, loc(BANK + 16, 1, 4), loc(AC_SUM + 16, 1, 12)); GEM(F_COMP, loc(16, 4, 12), loc(NOADDR, 16, 16));
    MVOUT(x + 16, AC_NEW + 16, 1, 12);
    FENCE();
  }
  for (int i = 0; i < 256; i++) C[i] = X[i];
}
/* products of a batch, each m x n x k, all of one kind */
INL void batch_of(int n, int m, int w, int k, int fenced) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)w, 0, 0); cfg_ld((u64)k, 0); cfg_ld((u64)w, 1);
  for (int i = 0; i < n; i++) {
    u32 t = (u32)(i & 3) * 16;
    MVIN(A + i * m * k, t, (u64)k, (u64)m); MVIN2(B + i * k * w, BANK + t, (u64)w, (u64)k);
    GEM(F_PRELOAD, loc(BANK + t, (u64)w, (u64)k), loc(AC_NEW + t, (u64)w, (u64)m));
    GEM(F_COMP, loc(t, (u64)k, (u64)m), loc(NOADDR, 16, 16));
    MVOUT(C + i * m * w, AC_NEW + t, (u64)w, (u64)m);
    if (fenced) FENCE();
  }
}
static NOINLINE void b8(void) { batch_of(40, 8, 8, 8, 0); }
static NOINLINE void b12(void) { batch_of(24, 12, 4, 12, 1); }
static NOINLINE void b16(void) { batch_of(48, 16, 16, 16, 0); }
/* a tall matrix times a vector by rows, several vectors in turn */
static NOINLINE void vectors(int n, int M, int K) {
  for (int v = 0; v < n; v++) {
    cfg_ex(1, 0, 0, 0); cfg_st(1, 0, -2); cfg_ld((u64)K, 0); cfg_ld(1, 1);
    for (int k = 0; k < K / 16; k++) MVIN2(B + v * K + k * 16, BANK + (u32)k * 16, 1, 16);
    for (int i = 0; i < M / 16; i++) {
      for (int k = 0; k < K; k += 64) MVIN(A + i * 16 * K + k, (u32)((i & 1) * K + k), (u64)least(64, K - k), 16);
      for (int k = 0; k < K / 16; k++) { GEM(F_PRELOAD, loc(BANK + (u32)k * 16, 1, 16), loc((k ? AC_SUM : AC_NEW) + (u32)i * 16, 1, 16)); COMP((u32)((i & 1) * K + k * 16)); }
      MVOUT(C + v * M + i * 16, AC_NEW + (u32)i * 16, 1, 16);
    }
  }
}
static void run(void) {
  fill(A, 32768, 11); fill(B, 32768, 12); fill(X, 256, 13); fill_words(D, 512);
  DO("layers_32x64_96_32", 1024, layers());
  DO("attend_sharp_48x64", 3072, attend(0));
  DO("attend_soft_48x64", 3072, attend(1));
  DO("cell_h32_x4", 64, cell(4, 32));
  DO("cell_h48_x2", 64, cell(2, 48));
  DO("solver_12_4_x10", 256, steps(10));
  DO("batch_8x8x8_x40", 2560, b8());
  DO("batch_12x4x12_fenced_x24", 1152, b12());
  DO("batch_16x16x16_x48", 12288, b16());
  DO("vectors_x3_96x128", 288, vectors(3, 96, 128));
}
