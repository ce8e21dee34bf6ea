/* Products around which the core has work of its own: narrowing, bias, transposing, copying, checking. */
#include "blocks.h"
static i32 W[4096] ALIGNED(64);
static i8 S[16384] ALIGNED(64);
FREE(wide_out, 2, 2, 2, FULL, 0, 0)
FREE(plain, 2, 2, 4, TWO, 0, -1)
static NOINLINE void prod(const i8 *a, const i8 *b, void *c, int M, int N, int K, int fl) { if (fl) blocks(a, b, c, D, M, N, K, 2, 2, 2, FULL, 0, 0); else blocks(a, b, c, D, M, N, K, 2, 2, 4, TWO, 0, -1); }
static NOINLINE void narrow(const i32 *w, i8 *o, int M, int N) {
  for (int i = 0; i < M; i++) KEEP_LOOP for (int j = 0; j < N; j++) {
    int v = (w[i * N + j] + D[j]) >> 3; v = v < 0 ? 0 : v; o[i * N + j] = (i8)(v > 127 ? 127 : v);
  }
}
static NOINLINE void narrow_float(const i32 *w, i8 *o, int n, float scale) {
  KEEP_LOOP for (int i = 0; i < n; i++) { float v = (float)w[i] * scale + 0.5f; o[i] = (i8)(v > 127.0f ? 127 : v < -128.0f ? -128 : (int)v); }
}
static NOINLINE void transposed(const i8 *a, i8 *o, int M, int N) { for (int i = 0; i < M; i++) KEEP_LOOP for (int j = 0; j < N; j++) o[j * M + i] = a[i * N + j]; }
static NOINLINE void copied(const void *s, void *d, int n) { const u64 *p = s; u64 *q = d; for (int i = 0; i < n / 8; i++) q[i] = p[i]; }
static NOINLINE void padded(const i8 *a, i8 *o, int M, int K, int P) { for (int i = 0; i < M; i++) { KEEP_LOOP for (int k = 0; k < P; k++) o[i * P + k] = k < K ? a[i * K + k] : 0; } }
static NOINLINE void relu8(i8 *p, int n) { KEEP_LOOP for (int i = 0; i < n; i++) if (p[i] < 0) p[i] = 0; }
static NOINLINE i32 greatest(const i8 *p, int rows, int n, i8 *o) { i32 s = 0; KEEP_LOOP for (int r = 0; r < rows; r++) { int at = 0; KEEP_LOOP for (int i = 1; i < n; i++) if (p[r * n + i] > p[r * n + at]) at = i; o[r] = (i8)at; s += at; } return s; }
static NOINLINE void pooled(const i8 *p, i8 *o, int h, int w, int c) {
  KEEP_LOOP for (int y = 0; y < h; y += 2) KEEP_LOOP for (int x = 0; x < w; x += 2) KEEP_LOOP for (int k = 0; k < c; k++) {
    int m = p[(y * w + x) * c + k], v;
    if ((v = p[(y * w + x + 1) * c + k]) > m) m = v;
    if ((v = p[((y + 1) * w + x) * c + k]) > m) m = v;
    if ((v = p[((y + 1) * w + x + 1) * c + k]) > m) m = v;
    o[(y / 2 * (w / 2) + x / 2) * c + k] = (i8)m;
  }
}
static NOINLINE i64 scalar_product(int M, int N, int K) { i64 s = 0; KEEP_LOOP for (int i = 0; i < M; i++) KEEP_LOOP for (int j = 0; j < N; j++) { i32 v = 0; KEEP_LOOP for (int k = 0; k < K; k++) v += A[i * K + k] * B[k * N + j]; W[i * N + j] = v; s += v; } return s; }
/* the core narrows one block of rows while the accelerator computes the next */
static NOINLINE void overlapped(int blocks_, int N, int K) {
  prod(A, B, W, 32, N, K, 1); FENCE();
  for (int b = 1; b < blocks_; b++) {
    i32 *now_ = W + ((b - 1) & 1) * 32 * N, *next = W + (b & 1) * 32 * N;
    prod(A + b * 32 * K, B, next, 32, N, K, 1);
    narrow(now_, C + (b - 1) * 32 * N, 32, N);
    FENCE();
  }
}
static void run(void) {
  fill(A, 16384, 14); fill(B, 16384, 15); fill_words(D, 512);
  DO("then_narrow_32x48x64", 1536, { prod(A, B, W, 32, 48, 64, 1); FENCE(); narrow(W, C, 32, 48); });
  DO("then_narrow_float_32x32x96", 1024, { prod(A, B, W, 32, 32, 96, 1); FENCE(); narrow_float(W, C, 1024, 0.125f); });
  DO("overlapped_x4_32x32x64", 3072, overlapped(4, 32, 64));
  DO("transpose_first_48x48x64", 2304, { transposed(A, S, 48, 64); FENCE(); cfg_ex(1, 0, 0, 0); prod(A, S, C, 48, 48, 64, 0); });
  DO("copied_in_64x64x64", 4096, { copied(A, S, 4096); copied(B, S + 4096, 4096); prod(S, S + 4096, C, 64, 64, 64, 0); });
  DO("padded_40x48x50", 1920, { padded(A, S, 40, 50, 64); prod(S, B, C, 40, 48, 64, 0); });
  DO("then_relu_copy_48x64x64", 3072, { prod(A, B, S, 48, 64, 64, 0); FENCE(); relu8(S, 3072); copied(S, C, 3072); });
  DO("then_greatest_64x32x64", 64, { prod(A, B, S, 64, 32, 64, 0); FENCE(); greatest(S, 64, 32, C); });
  DO("then_pooled_64x32x48", 512, { prod(A, B, S, 64, 32, 48, 0); FENCE(); pooled(S, C, 8, 8, 32); });
  DO("core_alone_10x10x24", 400, { scalar_product(10, 10, 24); copied(W, C, 400); });
  DO("both_halves_48x48x48", 2304, { prod(A, B, C, 48, 48, 48, 0); scalar_product(8, 8, 16); FENCE(); });
}
