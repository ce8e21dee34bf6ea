/* What the core does in programs of its own: loops in C, with arrays in its caches or out of them. */
#include "cal.h"
static i32 W[8192] ALIGNED(64), V[8192] ALIGNED(64);
static signed char P[8192] ALIGNED(64), Q[8192] ALIGNED(64);
static float F[2048] ALIGNED(64), G[2048] ALIGNED(64);
static double H[512] ALIGNED(64);
static volatile i64 sink; static volatile float fsink; static volatile double dsink;
static u32 state = 1;
static u32 next(void) { state = state * 1664525u + 1013904223u; return state >> 8; }
static NOINLINE i64 sum8(const signed char *p, int n) { i64 s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += p[i]; return s; }
static NOINLINE i64 dot8(const signed char *p, const signed char *q, int n) { i64 s = 0; for (int i = 0; i < n; i++) s += p[i] * q[i]; return s; }
static NOINLINE i32 dot32(const i32 *p, const i32 *q, int n) { i32 s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += p[i] * q[i]; return s; }
static NOINLINE void clamp(const i32 *p, signed char *o, int n) { KEEP_LOOP for (int i = 0; i < n; i++) { i32 v = p[i] >> 4; o[i] = (signed char)(v > 127 ? 127 : v < -128 ? -128 : v); } }
static NOINLINE void turn(const signed char *p, signed char *o, int n) { for (int i = 0; i < n; i++) KEEP_LOOP for (int j = 0; j < n; j++) o[j * n + i] = p[i * n + j]; }
static NOINLINE void insertion(i32 *p, int n) { for (int i = 1; i < n; i++) { i32 v = p[i]; int j = i; while (j && p[j - 1] > v) { p[j] = p[j - 1]; j--; } p[j] = v; } }
static NOINLINE int search(const i32 *p, int n, i32 v) { int a = 0, b = n; while (a < b) { int m = (a + b) / 2; if (p[m] < v) a = m + 1; else b = m; } return a; }
static NOINLINE void histogram(const signed char *p, i32 *h, int n) { KEEP_LOOP for (int i = 0; i < n; i++) h[(u8)p[i]]++; }
static NOINLINE u32 checksum(const signed char *p, int n) { u32 c = ~0u; KEEP_LOOP for (int i = 0; i < n; i++) { c ^= (u8)p[i]; for (int k = 0; k < 4; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1; } return c; }
static NOINLINE float saxpy(float a, const float *x, float *y, int n) { KEEP_LOOP for (int i = 0; i < n; i++) y[i] += a * x[i]; return y[n - 1]; }
static NOINLINE float dotf(const float *x, const float *y, int n) { float s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += x[i] * y[i]; return s; }
static NOINLINE float norm(float *x, int n) { float s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += x[i] * x[i]; __asm__("fsqrt.s %0, %1" : "=f"(s) : "f"(s + 1)); s = 1 / s; KEEP_LOOP for (int i = 0; i < n; i++) x[i] *= s; return s; }
static NOINLINE void quantize(const float *x, signed char *o, int n) { KEEP_LOOP for (int i = 0; i < n; i++) { float v = x[i] * 16; v = v > 127 ? 127 : v < -128 ? -128 : v; o[i] = (signed char)(int)v; } }
static NOINLINE void widen(const signed char *p, float *o, int n) { KEEP_LOOP for (int i = 0; i < n; i++) o[i] = (float)p[i] * 0.25f; }
static NOINLINE double poly(double x, int n) { double s = 0; KEEP_LOOP for (int i = 0; i < n; i++) { s = s * x + H[i & 7]; } return s; }
static NOINLINE void matf(const float *a, const float *b, float *c, int n) { KEEP_LOOP for (int i = 0; i < n; i++) KEEP_LOOP for (int j = 0; j < n; j++) { float s = 0; KEEP_LOOP for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j]; c[i * n + j] = s; } }
static NOINLINE void expo(const float *x, float *o, int n) { KEEP_LOOP for (int i = 0; i < n; i++) { float v = x[i] * 0.125f; v = 1 + v * (1 + v * (0.5f + v * (0.1666667f + v * 0.04166667f))); o[i] = v * v; } }
static NOINLINE void quotients(const i32 *p, i32 *o, int n, i32 d) { KEEP_LOOP for (int i = 0; i < n; i++) o[i] = p[i] / d + p[i] % d; }
static NOINLINE int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static NOINLINE int machine(const signed char *p, int n) { int s = 0, c = 0; KEEP_LOOP for (int i = 0; i < n; i++) { switch (p[i] & 7) { case 0: s++; break; case 1: s ^= 3; break; case 2: c += s; break; case 3: s = s * 5; break; case 4: c -= 7; break; case 5: s >>= 1; break; case 6: c ^= s; break; default: s = c; } } return c + s; }
static NOINLINE i64 gather(const i32 *p, const i32 *at, int n) { i64 s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += p[at[i] & 8191]; return s; }
static NOINLINE void copy_words(u64 *d, const u64 *s, int n) { for (int i = 0; i < n; i++) d[i] = s[i]; }
static void run(void) {
  for (int i = 0; i < 2048; i++) { P[i] = (signed char)next(); Q[i] = (signed char)next(); W[i] = (i32)next(); V[i] = (i32)(next() & 8191); }
  for (int i = 0; i < 1200; i++) { F[i] = (float)(next() & 255) / 64 - 2; G[i] = (float)(next() & 255) / 128; }
  for (int i = 0; i < 512; i++) H[i] = i * 0.5;
  CASE("sum8_400", , sink = sum8(P, 400));
  CASE("dot8_512", , sink = dot8(P, Q, 512));
  CASE("dot32_300", , sink = dot32(W, V, 300));
  CASE("clamp_256", , clamp(W, Q, 256));
  CASE("transpose_24", , turn(P, Q, 24));
  CASE("insertion_24", { for (int i = 0; i < 24; i++) V[i + 4096] = W[i]; }, insertion(V + 4096, 24));
  { for (int i = 0; i < 1024; i++) V[i + 2048] = i * 3; } CASE("search_x16", , for (int i = 0; i < 16; i++) sink = search(V + 2048, 1024, i * 211 & 3071));
  CASE("histogram_200", , histogram(P, W + 4096, 200));
  CASE("checksum_64", , sink = checksum(P, 64));
  CASE("saxpy_128", , fsink = saxpy(0.5f, F, G, 128));
  CASE("dotf_200", , fsink = dotf(F, G, 200));
  CASE("norm_100", , fsink = norm(F + 1024, 100));
  CASE("quantize_128", , quantize(F, Q, 128));
  CASE("widen_128", , widen(P, G, 128));
  CASE("poly_100", , dsink = poly(0.5, 100));
  CASE("matf_8", , matf(F, F + 64, G, 8));
  CASE("expo_64", , expo(F, G, 64));
  CASE("quotients_24", , quotients(W, V + 6000, 24, 37));
  CASE("fib_9", , sink = fib(9));
  CASE("machine_160", , sink = machine(P, 160));
  CASE("gather_150", , sink = gather(W, V, 150));
  CASE("copy_2k", , copy_words((u64 *)Q, (u64 *)P, 256));
  { volatile u8 *p; CASE("read_cold_lines_x40", p = cold(4096), { KEEP_LOOP for (int i = 0; i < 40; i++) sink = p[i * 64]; }); }
  CASE("writes_then_sum", , { for (int i = 0; i < 256; i++) W[i] = i; sink = dot32(W, V, 256); });
}
