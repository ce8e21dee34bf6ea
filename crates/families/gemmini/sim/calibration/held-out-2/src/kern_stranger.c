/* Programs as somebody would write them who uses the accelerator for a part of something else: small
   nets with fences between the layers, attention, patches made by the core, scalar work on results at
   full width, quantization in floating point, block substitution, loops sent without waiting. */
#include "blocks.h"
static i8 P[16384] ALIGNED(64), Q[8192] ALIGNED(64);
static i32 W[8192] ALIGNED(64), V[4096] ALIGNED(64);
static float F[2048] ALIGNED(64), G[2048] ALIGNED(64);
static u64 T[64];
INL i8 clip(i32 v) { return (i8)(v < -128 ? -128 : v > 127 ? 127 : v); }
/* three layers, a fence behind each; the last one's scores leave at full width and the best is chosen */
static NOINLINE void mlp(int n, int in, int h1, int h2, int out) {
  blocks(A, B, P, D, n, h1, in, 2, 2, 4, ROWBIAS, 1, -3); FENCE();
  blocks(P, B + 4096, Q, D, n, h2, h1, 2, 2, 4, ROWBIAS, 1, -3); FENCE();
  blocks(Q, B + 8192, W, D, n, out, h2, 2, 2, 4, ROWBIAS | FULL, 0, 0); FENCE();
  KEEP_LOOP for (int i = 0; i < n; i++) {
    int best = 0;
    KEEP_LOOP for (int j = 1; j < out; j++) if (W[i * out + j] > W[i * out + best]) best = j;
    C[i] = (i8)best;
  }
}
/* scores of Q K' at full width, a row's maximum taken off, powers of two by shifts, divided; times V */
static NOINLINE void attention(int n, int d) {
  KEEP_LOOP for (int r = 0; r < n; r++) KEEP_LOOP for (int c = 0; c < d; c++) P[c * n + r] = B[r * d + c];
  blocks(A, P, W, D, n, n, d, 1, 2, 2, FULL, 0, 0); FENCE();
  KEEP_LOOP for (int r = 0; r < n; r++) {
    i32 top = W[r * n], sum = 0;
    KEEP_LOOP for (int c = 1; c < n; c++) if (W[r * n + c] > top) top = W[r * n + c];
    KEEP_LOOP for (int c = 0; c < n; c++) { const i32 s = (top - W[r * n + c]) >> 4; V[c] = s > 12 ? 0 : 4096 >> s; sum += V[c]; }
    KEEP_LOOP for (int c = 0; c < n; c++) Q[r * n + c] = (i8)(V[c] * 127 / sum);
  }
  blocks(Q, E, C, D, n, d, n, 2, 2, 2, 0, 0, -5);
}
/* patches are written out as a matrix, padded to 16, then one product */
static NOINLINE void patched(int side, int ic, int oc, int kw) {
  const int pad = kw / 2, k = kw * kw * ic, kp = (k + 15) / 16 * 16;
  KEEP_LOOP for (int y = 0; y < side; y++) KEEP_LOOP for (int x = 0; x < side; x++) {
    i8 *d = P + (y * side + x) * kp;
    for (int ky = 0; ky < kw; ky++) for (int kx = 0; kx < kw; kx++) {
      const int sy = y + ky - pad, sx = x + kx - pad;
      const i8 *s = A + (sy * side + sx) * ic;
      KEEP_LOOP for (int c = 0; c < ic; c++) *d++ = sy < 0 || sx < 0 || sy >= side || sx >= side ? 0 : s[c];
    }
    KEEP_LOOP for (int c = k; c < kp; c++) *d++ = 0;
  }
  FENCE();
  blocks(P, B, C, D, side * side, oc, kp, 2, 2, 4, ROWBIAS | TWO, 1, -4);
}
/* full sums are narrowed by the core: bias, multiplier and shift by column, clipped */
static NOINLINE void requantized(int M, int N, int K) {
  blocks(A, B, W, D, M, N, K, 2, 2, 4, FULL, 0, 0); FENCE();
  KEEP_LOOP for (int i = 0; i < M; i++) KEEP_LOOP for (int j = 0; j < N; j++)
    C[i * N + j] = clip((i32)(((long)(W[i * N + j] + D[j]) * (1000 + 13 * j) + 16384) >> 15));
}
/* rows are centred and scaled by a shift found from their spread */
static NOINLINE void normalized(int M, int N, int K) {
  blocks(A, B, W, D, M, N, K, 2, 4, 2, FULL | TWO, 0, 0); FENCE();
  KEEP_LOOP for (int i = 0; i < M; i++) {
    i32 sum = 0; u64 sq = 0; int sh = 0;
    KEEP_LOOP for (int j = 0; j < N; j++) sum += W[i * N + j];
    const i32 mean = sum / N;
    KEEP_LOOP for (int j = 0; j < N; j++) { const i32 v = W[i * N + j] - mean; sq += (u64)((long)v * v); }
    sq /= (u64)N; KEEP_LOOP while (sq > 1024) { sq >>= 2; sh++; }
    KEEP_LOOP for (int j = 0; j < N; j++) C[i * N + j] = clip((W[i * N + j] - mean) >> sh);
  }
}
/* floats are quantized, multiplied and scaled back */
static NOINLINE void quantized(int n) {
  float top = 0;
  KEEP_LOOP for (int i = 0; i < n * n; i++) { const float v = F[i] < 0 ? -F[i] : F[i]; if (v > top) top = v; }
  const float s = 127.0f / top;
  KEEP_LOOP for (int i = 0; i < n * n; i++) P[i] = (i8)(int)(F[i] * s);
  blocks(P, B, W, D, n, n, n, 2, 2, 2, FULL, 0, 0); FENCE();
  KEEP_LOOP for (int i = 0; i < n * n; i++) G[i] = (float)W[i] / s + G[i] * 0.5f;
}
/* two loops in a row without a fence, their operands apart; a third one reads the first one's result */
static NOINLINE void two_loops(int I, int J, int K, int chain) {
  const u64 k = (u64)K * 16, j = (u64)J * 16;
  cfg_ex(1, 0, 0, 0); cfg_st(j, 0, -4); cfg_ld(k, 0); cfg_ld(j, 1); cfg_ld(j * 4, 2);
  loop_ws((u64)I, (u64)J, (u64)K, 0, 0, 0, A, B, 0, C, k, j, 0, j, 0, 0);
  loop_ws((u64)I, (u64)J, (u64)K, 0, 0, 0, A + 8192, E, 0, C + 8192, k, j, 0, j, 0, 0);
  if (chain) { FENCE(); loop_ws((u64)I, (u64)J, (u64)J, 0, 0, 0, C, B + 8192, 0, C + 16384, j, j, 0, j, 0, 0); }
}
/* a loop, and while it runs the core sums what the last one left */
static NOINLINE u64 summed_beside(int n) {
  u64 s = 0; cfg_ex(1, 0, 0, 0); cfg_st(32, 0, -4); cfg_ld(64, 0); cfg_ld(32, 1); cfg_ld(128, 2);
  for (int t = 0; t < n; t++) {
    loop_ws(2, 2, 4, 0, 0, 0, A + t * 2048, B, 0, C + t * 1024, 64, 32, 0, 32, 0, 0);
    if (t) KEEP_LOOP for (int i = 0; i < 1024; i += 8) s += *(const volatile u64 *)(C + (t - 1) * 1024 + i) & 255;
    FENCE();
  }
  return s;
}
/* one row at a time through the same matrix, a table of answers between the steps */
static NOINLINE void recurrent(int n) {
  KEEP_LOOP for (int i = 0; i < 64; i++) Q[i] = A[i];
  for (int t = 0; t < n; t++) {
    cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1); cfg_st(256, 0, 0);
    for (int k = 0; k < 4; k++) MVIN(Q + k * 16, (u32)k * 16, 16, 1);
    if (t == 0) for (int k = 0; k < 4; k++) MVIN2(B + k * 1024, BANK + (u32)k * 64, 64, 16);
    for (int j = 0; j < 4; j++) for (int k = 0; k < 4; k++) {
      GEM(F_PRELOAD, loc(BANK + (u32)(k * 64 + j * 16), 16, 16), loc((k ? AC_SUM : AC_NEW) + (u32)j * 16, 16, 1));
      GEM(F_COMP, loc((u32)k * 16, 16, 1), loc(NOADDR, 16, 16));
    }
    for (int j = 0; j < 4; j++) MVOUT(W + j * 16, AC_WIDE + (u32)j * 16, 16, 1);
    FENCE();
    KEEP_LOOP for (int i = 0; i < 64; i++) { const i32 v = (W[i] >> 3) + A[t * 64 + i]; Q[i] = (i8)(v > 63 ? 63 : v < -64 ? -64 : v - (v * v >> 9)); }
  }
  KEEP_LOOP for (int i = 0; i < 64; i++) C[i] = Q[i];
}
/* tiny products, each waited for and checked by its trace */
static NOINLINE u64 tiny(int n, int m) {
  u64 s = 0;
  KEEP_LOOP for (int t = 0; t < n; t++) {
    cfg_ex(1, 0, 0, 0); cfg_ld((u64)m, 0); cfg_ld((u64)m, 1); cfg_st((u64)m, 0, -1);
    MVIN(A + t * m * m, 0, (u64)m, (u64)m); MVIN2(B + t * m * m, BANK, (u64)m, (u64)m);
    GEM(F_PRELOAD, loc(BANK, (u64)m, (u64)m), loc(AC_NEW, (u64)m, (u64)m)); GEM(F_COMP, loc(0, (u64)m, (u64)m), loc(NOADDR, 16, 16));
    MVOUT(C + t * m * m, AC_NEW, (u64)m, (u64)m); FENCE();
    KEEP_LOOP for (int i = 0; i < m; i++) s += (u64)C[t * m * m + i * (m + 1)];
  }
  return s;
}
/* forward substitution by blocks: the core solves a block's row, the accelerator takes it off those below */
static NOINLINE void substituted(int nb) {
  KEEP_LOOP for (int i = 0; i < nb * 256; i++) W[i] = A[i] * 8;
  for (int b = 0; b < nb; b++) {
    KEEP_LOOP for (int r = 0; r < 16; r++) KEEP_LOOP for (int c = 0; c < 16; c++) {
      i32 v = W[b * 256 + r * 16 + c]; KEEP_LOOP for (int q = 0; q < r; q++) v -= B[r * 16 + q] * (q & 1 ? P[b * 256 + q * 16 + c] : 1);
      P[b * 256 + r * 16 + c] = clip(v >> 4);
    }
    if (b + 1 == nb) break;
    FENCE(); cfg_ex(1, 0, 0, 0); cfg_ld(16, 0); cfg_ld(16, 1); cfg_st(64, 0, 0);
    MVIN2(P + b * 256, BANK, 16, 16);
    for (int q = b + 1; q < nb; q++) { MVIN(E + q * 256, (u32)(q & 3) * 16, 16, 16); PRELOAD(BANK, AC_NEW + (u32)(q & 3) * 16); COMP((u32)(q & 3) * 16); MVOUT(V + q * 256, AC_WIDE + (u32)(q & 3) * 16, 16, 16); }
    FENCE();
    KEEP_LOOP for (int i = (b + 1) * 256; i < nb * 256; i++) W[i] -= V[i] >> 3;
  }
  KEEP_LOOP for (int i = 0; i < nb * 256; i++) C[i] = P[i];
}
/* two halves of the inner size in two products of full width, added by the core */
static NOINLINE void halves(int M, int N, int K) {
  blocks(A, B, W, D, M, N, K, 1, 4, 2, FULL, 0, 0);
  blocks(A + M * K, B + K * N, V, D, M, N, K, 1, 4, 2, FULL, 0, 0); FENCE();
  KEEP_LOOP for (int i = 0; i < M * N; i++) C[i] = clip((W[i] + V[i]) >> 3);
}
/* powers of a matrix by squaring, narrowed each time */
static NOINLINE void powers(int n, int times) {
  blocks(A, A, P, D, n, n, n, 2, 2, 2, 0, 0, -4);
  for (int t = 1; t < times; t++) { FENCE(); blocks(t & 1 ? P : Q, t & 1 ? P : Q, t & 1 ? Q : P, D, n, n, n, 2, 2, 2, 0, 0, -4); }
  FENCE(); KEEP_LOOP for (int i = 0; i < n * n; i++) C[i] = (times & 1 ? P : Q)[i];
}
/* products of a list: shapes and places from memory, the routine by a pointer */
typedef void (*routine)(int, int, int, const i8 *, const i8 *, i8 *);
static NOINLINE void small_tiles(int M, int N, int K, const i8 *a, const i8 *b, i8 *c) { blocks(a, b, c, D, M, N, K, 1, 1, 1, 0, 0, -3); }
static NOINLINE void large_tiles(int M, int N, int K, const i8 *a, const i8 *b, i8 *c) { blocks(a, b, c, D, M, N, K, 4, 4, 2, TWO, 1, -3); }
static volatile routine R[2];
static NOINLINE void listed(int n) {
  KEEP_LOOP for (int t = 0; t < n; t++) { const u64 w = T[t]; R[w >> 48 & 1]((int)(w & 255), (int)(w >> 8 & 255), (int)(w >> 16 & 255), A + (w >> 24 & 15) * 512, B + (w >> 28 & 15) * 256, C + t * 2048); }
}
/* the largest of each two by two pixels, found by the core, between two products */
static NOINLINE void pooled(int side, int c) {
  blocks(A, B, P, D, side * side, c, c, 4, 1, 1, ROWBIAS, 1, -3); FENCE();
  KEEP_LOOP for (int y = 0; y < side / 2; y++) KEEP_LOOP for (int x = 0; x < side / 2; x++) KEEP_LOOP for (int q = 0; q < c; q++) {
    const i8 *s = P + (2 * y * side + 2 * x) * c + q; i8 v = s[0];
    if (s[c] > v) v = s[c];
    if (s[side * c] > v) v = s[side * c];
    if (s[side * c + c] > v) v = s[side * c + c];
    Q[(y * side / 2 + x) * c + q] = v;
  }
  FENCE(); blocks(Q, E, C, D, side * side / 4, c, c, 4, 1, 1, 0, 0, -3);
}
/* one channel more each time: a sum of outer products, the vectors strided through a matrix */
static NOINLINE void outer(int M, int N, int n) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -2); cfg_ld(64, 0); cfg_ld((u64)N, 1);
  for (int t = 0; t < n; t++) for (int i = 0; i < M / 16; i++) {
    MVIN(A + i * 1024 + t, (u32)(t & 7) * 64 + (u32)i * 16, 1, 16);
    for (int j = 0; j < N / 16; j++) {
      if (i == 0) MVIN2(B + t * N + j * 16, BANK + (u32)(t & 7) * 64 + (u32)j * 16, 16, 1);
      GEM(F_PRELOAD, loc(BANK + (u32)(t & 7) * 64 + (u32)j * 16, 16, 1), loc((t ? AC_SUM : AC_NEW) + (u32)(i * 4 + j) * 16, 16, 16));
      GEM(F_COMP, loc((u32)(t & 7) * 64 + (u32)i * 16, 1, 16), loc(NOADDR, 16, 16));
    }
  }
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)(i * 4 + j) * 16, 16, 16);
}
static void run(void) {
  fill(A, 24576, 71); fill(B, 16384, 72); fill(E, 8192, 73); fill_words(D, 256);
  KEEP_LOOP for (int i = 0; i < 1024; i++) { F[i] = (float)(A[i] * 3 + B[i]) * 0.37f; G[i] = (float)i; }
  KEEP_LOOP for (int i = 0; i < 16; i++) T[i] = (u64)(i % 3 == 1) << 48 | (u64)(16 + i * 7 % 33) | (u64)(16 + i * 5 % 29) << 8 | (u64)(16 + i * 11 % 37) << 16 | (u64)(i * 3 & 15) << 24 | (u64)(i * 5 & 15) << 28;
  R[0] = small_tiles; R[1] = large_tiles;
  DO("mlp_32x48_64_32_10", 32, mlp(32, 48, 64, 32, 10));
  DO("mlp_7x64_40_24_5", 8, mlp(7, 64, 40, 24, 5));
  DO("attention_24x32", 768, attention(24, 32));
  DO("attention_16x48", 768, attention(16, 48));
  DO("patched_7x4x24_3", 1152, patched(7, 4, 24, 3));
  DO("patched_5x3x16_5", 384, patched(5, 3, 16, 5));
  DO("requantized_32x24x64", 768, requantized(32, 24, 64));
  DO("normalized_16x48x32", 768, normalized(16, 48, 32));
  DO("quantized_16", 256, quantized(16));
  DO("two_loops_3x2x4", 10000, two_loops(3, 2, 4, 0));
  DO("loops_in_chain_2x3x3", 18000, two_loops(2, 3, 3, 1));
  DO("summed_beside_x6", 6144, summed_beside(6));
  DO("recurrent_x6", 64, recurrent(6));
  DO("tiny_8_x24", 1536, tiny(24, 8));
  DO("tiny_12_x10", 1440, tiny(10, 12));
  DO("substituted_x2", 512, substituted(2));
  DO("halves_16x48x48", 768, halves(16, 48, 48));
  DO("powers_32_x4", 1024, powers(32, 4));
  DO("listed_x9", 18432, listed(9));
  DO("pooled_8x16", 256, pooled(8, 16));
  DO("outer_32x64x20", 2048, outer(32, 64, 20));
  DO("odd_blocks_37x53x29", 1960, blocks(A, B, C, D, 37, 53, 29, 2, 3, 1, TWO | LATE, 1, -3));
  DO("odd_blocks_70x22x90", 1536, blocks(A, B, C, D, 70, 22, 90, 3, 1, 3, TWO | LATE | HOLD, 0, -3));
}
