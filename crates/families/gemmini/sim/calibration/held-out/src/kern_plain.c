/* Routines as a compiler leaves them that does not optimize, and commands from tables and through pointers. */
#include "blocks.h"
#define PLAIN_CODE __attribute__((noinline, optnone))
static PLAIN_CODE void simple(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    for (int k = 0; k < K / 16; k++) {
      u32 t = (u32)(k & 3) * 16;
      MVIN(A + i * 16 * K + k * 16, t, 16, 16); MVIN2(B + k * 16 * N + j * 16, BANK + t, 16, 16);
      PRELOAD(BANK + t, (k ? AC_SUM : AC_NEW) + (u32)(j & 3) * 16); COMP(t);
    }
    MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)(j & 3) * 16, 16, 16);
  }
}
static PLAIN_CODE void kept(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 1, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int k = 0; k < K / 16; k++) for (int j = 0; j < N / 64; j++) MVIN2(B + k * 16 * N + j * 64, BANK + (u32)(k * N + j * 64), 64, 16);
  for (int i = 0; i < M / 16; i++) {
    for (int k = 0; k < K / 64; k++) MVIN(A + i * 16 * K + k * 64, (u32)((i & 1) * K + k * 64), 64, 16);
    for (int j = 0; j < N / 16; j++) {
      for (int k = 0; k < K / 16; k++) { PRELOAD(BANK + (u32)(k * N + j * 16), (k ? AC_SUM : AC_NEW) + (u32)j * 16); COMP((u32)((i & 1) * K + k * 16)); }
      MVOUT(C + i * 16 * N + j * 16, AC_NEW + (u32)j * 16, 16, 16);
    }
  }
}
static PLAIN_CODE void by_core(int M, int N, int K) { for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { int s = 0; for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j]; C[i * N + j] = (i8)(s >> 3); } }
static PLAIN_CODE void by_loop(int M, int N, int K) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -1); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1);
  for (int i = 0; i < M / 16; i += 2) for (int j = 0; j < N / 16; j += 2) for (int k = 0; k < K / 16; k += 2)
    loop_ws(2, 2, 2, 0, 0, 0, A + i * 16 * K + k * 16, B + k * 16 * N + j * 16, 0, k + 2 == K / 16 ? C + i * 16 * N + j * 16 : 0, (u64)K, (u64)N, 0, (u64)N, k > 0, 0);
}
/* commands prepared in a table, then sent */
struct order { u64 a, b; void (*send)(u64, u64); };
static struct order orders[640] ALIGNED(64); static int count;
static NOINLINE void s_in(u64 a, u64 b) { GEM(F_MVIN, a, b); }
static NOINLINE void s_in2(u64 a, u64 b) { GEM(F_MVIN2, a, b); }
static NOINLINE void s_out(u64 a, u64 b) { GEM(F_MVOUT, a, b); }
static NOINLINE void s_pre(u64 a, u64 b) { GEM(F_PRELOAD, a, b); }
static NOINLINE void s_comp(u64 a, u64 b) { GEM(F_COMP, a, b); }
static void order(void (*f)(u64, u64), u64 a, u64 b) { orders[count].a = a; orders[count].b = b; orders[count++].send = f; }
static NOINLINE void prepare(int M, int N, int K) {
  count = 0;
  for (int i = 0; i < M / 16; i++) for (int j = 0; j < N / 16; j++) {
    for (int k = 0; k < K / 16; k++) {
      const u32 t = (u32)(k & 3) * 16;
      if (j == 0) order(s_in, (u64)(A + i * 16 * K + k * 16), loc((u32)k * 16, 16, 16));
      order(s_in2, (u64)(B + k * 16 * N + j * 16), loc(BANK + t, 16, 16));
      order(s_pre, loc(BANK + t, 16, 16), loc((k ? AC_SUM : AC_NEW) + (u32)j * 16, 16, 16));
      order(s_comp, loc((u32)k * 16, 16, 16), loc(NOADDR, 16, 16));
    }
    order(s_out, (u64)(C + i * 16 * N + j * 16), loc(AC_NEW + (u32)j * 16, 16, 16));
  }
}
static NOINLINE void send(void) { KEEP_LOOP for (int i = 0; i < count; i++) orders[i].send(orders[i].a, orders[i].b); }
/* recursion down to blocks */
static NOINLINE void halves(int i, int j, int mi, int mj, int N, int K) {
  if (mi + mj > 4) { if (mi > mj) { halves(i, j, mi / 2, mj, N, K); halves(i + mi / 2, j, mi / 2, mj, N, K); } else { halves(i, j, mi, mj / 2, N, K); halves(i, j + mj / 2, mi, mj / 2, N, K); } return; }
  for (int k = 0; k < K / 16; k++) {
    const u32 t = (u32)(k & 3) * 64;
    for (int x = 0; x < mi; x++) MVIN(A + (i + x) * 16 * K + k * 16, t + (u32)x * 16, 16, 16);
    MVIN2(B + k * 16 * N + j * 16, BANK + t, (u64)mj * 16, 16);
    for (int y = 0; y < mj; y++) for (int x = 0; x < mi; x++) { PRELOAD(BANK + t + (u32)y * 16, (k ? AC_SUM : AC_NEW) + (u32)(x * 4 + y) * 16); COMP(t + (u32)x * 16); }
  }
  for (int x = 0; x < mi; x++) MVOUT(C + (i + x) * 16 * N + j * 16, AC_NEW + (u32)x * 64, (u64)mj * 16, 16);
}
static void run(void) {
  fill(A, 16384, 29); fill(B, 16384, 30);
  DO("simple_48x48x64", 2304, simple(48, 48, 64));
  DO("kept_64x64x64", 4096, kept(64, 64, 64));
  DO("by_core_6x8x16", 48, by_core(6, 8, 16));
  DO("by_loop_64x64x64", 4096, by_loop(64, 64, 64));
  prepare(48, 64, 64);
  DO("from_table_48x64x64", 3072, send());
  CASE("prepared_and_sent_32x48x48", , { prepare(32, 48, 48); send(); });
  DO("recursive_128x64x48", 8192, { cfg_ex(1, 0, 0, 0); cfg_st(64, 0, -1); cfg_ld(48, 0); cfg_ld(64, 1); halves(0, 0, 8, 4, 64, 48); });
}
