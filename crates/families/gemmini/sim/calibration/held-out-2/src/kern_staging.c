/* The core prepares what the accelerator reads, in the middle of the work: packed tiles, zeroed borders,
   looked-up values, addresses by division, prefetches. */
#include "blocks.h"
static i8 P[2][4096] ALIGNED(64);
static i8 L[256] ALIGNED(64);
static i32 W[8192] ALIGNED(64);
static u64 X[64] ALIGNED(64);
static NOINLINE void ready(int M, int N, int K) { (void)M; cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1); }
/* tiles of A are copied together by the core, two in turn; a fence before a copy is written again */
static NOINLINE void packed(int M, int N, int K, int words) {
  ready(M, N, 16);
  for (int i = 0; i < M / 16; i++) {
    i8 *p = P[i & 1];
    if (i > 1) FENCE();
    for (int k = 0; k < K / 16; k++) for (int r = 0; r < 16; r++) {
      const i8 *s = A + (i * 16 + r) * K + k * 16; i8 *d = p + k * 256 + r * 16;
      if (words) { ((u64 *)d)[0] = ((const u64 *)s)[0]; ((u64 *)d)[1] = ((const u64 *)s)[1]; }
      else KEEP_LOOP for (int c = 0; c < 16; c++) d[c] = s[c];
    }
    for (int k = 0; k < K / 16; k++) MVIN(p + k * 256, (u32)((i & 1) * 512 + k * 16), 16, 16);
    for (int j = 0; j < N / 16; j++) {
      for (int k = 0; k < K / 16; k++) {
        if (i == 0) MVIN2(B + k * 16 * N + j * 16, 2 * BANK + (u32)(j * (K / 16) + k) * 16, 16, 16);
        PRELOAD(2 * BANK + (u32)(j * (K / 16) + k) * 16, (k ? AC_SUM : AC_NEW) + (u32)((i & 1) * 512 + j * 16)); COMP((u32)((i & 1) * 512 + k * 16));
      }
      MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)((i & 1) * 512 + j * 16), 16, 16);
    }
  }
}
/* pixels are found by division, the border is zeroed by the core; rows of patches go in one by one */
static NOINLINE void patches(int side, int ic, int oc) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)oc, 1, -2); cfg_ld((u64)ic, 0); cfg_ld((u64)oc, 1);
  KEEP_LOOP for (int z = 0; z < ic; z++) P[0][z] = 0;
  for (int n = 0; n < side * side; n += 16) {
    for (int t = 0; t < 9; t++) {
      const u32 at = (u32)(((n / 16) & 1) * 512 + t * 16);
      KEEP_LOOP for (int m = n; m < n + 16; m++) {
        const int y = m / side + t / 3 - 1, x = m % side + t % 3 - 1;
        MVIN(y < 0 || x < 0 || y >= side || x >= side ? P[0] : A + (y * side + x) * ic, at + (u32)(m - n), (u64)ic, 1);
      }
      if (n == 0) MVIN2(B + t * ic * oc, 2 * BANK + (u32)t * 64, (u64)oc, (u64)ic);
      for (int o = 0; o < oc / 16; o++) {
        GEM(F_PRELOAD, loc(2 * BANK + (u32)(t * 64 + o * 16), 16, (u64)ic), loc((t ? AC_SUM : AC_NEW) + (u32)(((n / 16) & 1) * 512 + o * 16), 16, 16));
        GEM(F_COMP, loc(at, (u64)ic, 16), loc(NOADDR, 16, 16));
      }
    }
    MVOUT(C + n * oc, AC_NEW + (u32)(((n / 16) & 1) * 512), (u64)oc, 16);
  }
}
/* sums leave at full width, a table narrows them, the next product reads the table's answers */
static NOINLINE void looked_up(int n) {
  for (int l = 0; l < n; l++) {
    blocks(l ? (const i8 *)E : A, B + l * 1024, W, D, 32, 32, 32, 2, 2, 2, FULL, 0, 0);
    FENCE();
    KEEP_LOOP for (int i = 0; i < 1024; i++) { const i32 v = W[i] >> 2; E[i] = L[(u8)(v < -128 ? -128 : v > 127 ? 127 : v)]; }
  }
  KEEP_LOOP for (int i = 0; i < 128; i++) ((u64 *)C)[i] = ((u64 *)E)[i];
}
/* the core asks for the lines of the next tiles before they are moved in */
static NOINLINE void prefetched(const i8 *a, const i8 *b, i8 *c, int M, int N, int K, int ahead) {
  ready(M, N, K);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    const u32 o = (u32)((i + j) & 3) * 16;
    if (ahead && j == 0 && i + 1 < M / 16) KEEP_LOOP for (int r = 0; r < 16; r++) (void)*(const volatile i8 *)(a + ((i + 1) * 16 + r) * K);
    for (int k = 0; k < K / 16; k += 4) {
      if (j == 0) MVIN(a + i * 16 * K + k * 16, (u32)((i & 1) * 1024 + k * 16), 64, 16);
      if (i == 0) for (int q = 0; q < 4; q++) MVIN2(b + (k + q) * 16 * N + j * 16, 2 * BANK + (u32)(j * (K / 16) + k + q) * 16, 16, 16);
      for (int q = 0; q < 4; q++) { PRELOAD(2 * BANK + (u32)(j * (K / 16) + k + q) * 16, (k + q ? AC_SUM : AC_NEW) + o); COMP((u32)((i & 1) * 1024 + (k + q) * 16)); }
    }
    MVOUT(c + i * 16 * N + j * 16, AC_NEW + o, 16, 16);
  }
}
/* a fence behind every tile, and the core adds its corner up */
static NOINLINE u64 fenced_tiles(int M, int N, int K) {
  u64 s = 0; ready(M, N, K);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    for (int k = 0; k < K / 16; k++) {
      MVIN(A + i * 16 * K + k * 16, (u32)k * 16, 16, 16); MVIN2(B + k * 16 * N + j * 16, BANK + (u32)k * 16, 16, 16);
      PRELOAD(BANK + (u32)k * 16, (k ? AC_SUM : AC_NEW)); COMP((u32)k * 16);
    }
    MVOUT(C + i * 16 * N + j * 16, AC_NEW, 16, 16); FENCE();
    s += (u64)*(volatile i8 *)(C + i * 16 * N + j * 16);
  }
  return s;
}
/* the result's area is zeroed first by the core, words or bytes; only part of it is then written */
static NOINLINE void zeroed_first(int M, int N, int K, int bytes) {
  if (bytes) { volatile i8 *p = C; KEEP_LOOP for (int i = 0; i < M * 2 * N; i++) p[i] = 0; }
  else { volatile u64 *p = (u64 *)C; KEEP_LOOP for (int i = 0; i < M * 2 * N / 8; i++) p[i] = 0; }
  cfg_ex(1, 0, 0, 0); cfg_st((u64)(2 * N), 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    for (int k = 0; k < K / 16; k++) {
      const u32 t = (u32)(k & 3) * 16;
      MVIN(A + i * 16 * K + k * 16, t, 16, 16); MVIN2(B + k * 16 * N + j * 16, BANK + t, 16, 16);
      PRELOAD(BANK + t, (k ? AC_SUM : AC_NEW) + (u32)(j & 3) * 16); COMP(t);
    }
    MVOUT(C + i * 32 * N + j * 16, AC_NEW + (u32)(j & 3) * 16, 16, 16);
  }
}
/* rows of pointers, as a list of matrices has them; sizes from memory, tile addresses by remainder */
static NOINLINE void by_pointers(int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(32, 0, 0); cfg_ld(32, 0); cfg_ld(32, 1);
  KEEP_LOOP for (int t = 0; t < n; t++) {
    const i8 *a = (const i8 *)X[t % 7], *b = (const i8 *)X[7 + t % 5]; i8 *c = C + t * 1024;
    for (int q = 0; q < 8; q++) {
      const int i = q / 4, j = q / 2 % 2, k = q % 2; const u32 s = (u32)((t * 8 + q) % 11) * 16;
      MVIN(a + i * 512 + k * 16, s, 16, 16); MVIN2(b + k * 512 + j * 16, BANK + s, 16, 16);
      PRELOAD(BANK + s, (k ? AC_SUM : AC_NEW) + (u32)(q / 2) * 16); COMP(s);
      if (k) MVOUT(c + i * 512 + j * 16, AC_NEW + (u32)(q / 2) * 16, 16, 16);
    }
  }
}
/* weights change a little between products: the core rewrites one line of B, the loop runs again */
static NOINLINE void updated(int n) {
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -1); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2);
  for (int t = 0; t < n; t++) {
    loop_ws(2, 4, 4, 0, 0, 0, A + t * 2048, E, 0, C + t * 2048, 64, 64, 0, 64, 0, 0);
    FENCE();
    KEEP_LOOP for (int c = 0; c < 64; c++) E[t * 64 + c] = (i8)(E[t * 64 + c] + C[t * 2048 + c] / 16);
  }
}
static void run(void) {
  fill(A, 65536, 31); fill(B, 32768, 32); fill_words(D, 512); fill(E, 8192, 33);
  for (int i = 0; i < 256; i++) L[i] = (i8)((i * 37 >> 3) % 9 - 4);
  for (int i = 0; i < 7; i++) X[i] = (u64)A + (u64)(i * 5 % 7) * 1024;
  for (int i = 0; i < 5; i++) X[7 + i] = (u64)B + (u64)(i * 3 % 5) * 1024;
  DO("packed_words_96x64x64", 6144, packed(96, 64, 64, 1));
  DO("packed_bytes_64x32x64", 2048, packed(64, 32, 64, 0));
  DO("patches_8x8x16x32", 2048, patches(8, 16, 32));
  DO("patches_12x12x8x16", 2304, patches(12, 8, 16));
  DO("looked_up_x3", 1024, looked_up(3));
  DO("fenced_tiles_64x64x64", 4096, fenced_tiles(64, 64, 64));
  DO("zeroed_words_64x64x64", 8192, zeroed_first(64, 64, 64, 0));
  DO("zeroed_bytes_32x64x64", 4096, zeroed_first(32, 64, 64, 1));
  DO("by_pointers_x20", 20480, by_pointers(20));
  DO("updated_x8", 16384, updated(8));
  DO("unfetched_96x64x128", 6144, prefetched(A, B, C, 96, 64, 128, 0));
  DO("prefetched_96x64x128", 6144, prefetched(A, B, C, 96, 64, 128, 1));
  const i8 *a = A; i8 *c = C;
  CASE("cold_prefetched_64x64x128", (a = (i8 *)cold(8192), c = (i8 *)cold(4096)), prefetched(a, B, c, 64, 64, 128, 1));
}
