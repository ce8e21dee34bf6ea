/* The matrix loop with the vendor library's choice of tiles: as many tiles of C
   as half of the accumulator holds, near a square, then grown in the order J, I,
   K; an operand of at most two blocks stays in the scratchpad. */
#include "cal.h"

static i8 mA[3136u * 512] ALIGNED(4096), mB[512u * 512] ALIGNED(4096), mC[12544u * 256] ALIGNED(4096);
enum { SPAD_HALF = 8192, ACC_HALF = 512 };

static void block(u64 I, u64 J, u64 K, const void *A, const void *B, void *C, u64 n, u64 k, u64 acc, u64 a_id, u64 b_id) {
  GEM(F_LWS_BOUNDS, 0, (K << 32) | (J << 16) | I);
  GEM(F_LWS_AB, A, B);
  GEM(F_LWS_DC, 0, C);
  GEM(F_LWS_STR_AB, k, n);
  GEM(F_LWS_STR_DC, n, n);
  GEM(F_LWS_RUN, (a_id << 18) | (b_id << 16) | acc, 0);
}
static u64 root(u64 x) { u64 r = 0; while ((r + 1) * (r + 1) <= x) r++; return r; }
static u64 least(u64 a, u64 b) { return a < b ? a : b; }
static int fits(u64 I, u64 J, u64 K) { return (I * K + K * J) * 16 <= SPAD_HALF && I * J * 16 <= ACC_HALF; }

static NOINLINE void product(u64 m, u64 n, u64 k) {
  u64 ni = m / 16, nj = n / 16, nk = k / 16, side = root(ACC_HALF / 16);
  u64 I = least(ni, side), J = least(nj, side), K = least(nk, SPAD_HALF / 32 / side);
  for (int grown = 1; grown;) {
    grown = 0;
    if (J < nj && fits(I, J + 1, K)) { J++; grown = 1; }
    if (I < ni && fits(I + 1, J, K)) { I++; grown = 1; }
    if (K < nk && fits(I, J, K + 1)) { K++; grown = 1; }
  }
  u64 bi = (ni + I - 1) / I, bj = (nj + J - 1) / J, bk = (nk + K - 1) / K;
  int keep_a = bi * bk <= 2, keep_b = bj * bk <= 2;
  cfg_ex(1, 0, 0, 0);
  cfg_st(n, 0, 0);
  cfg_ld(k, 0);
  cfg_ld(n, 1);
  for (u64 i = 0; i < bi; i++)
    for (u64 j = 0; j < bj; j++)
      for (u64 l = 0; l < bk; l++) {
        const i8 *a = keep_a && j ? 0 : mA + i * I * 16 * k + l * K * 16;
        const i8 *b = keep_b && i ? 0 : mB + l * K * 16 * n + j * J * 16;
        block(least(I, ni - i * I), least(J, nj - j * J), least(K, nk - l * K), a, b,
              l == bk - 1 ? mC + i * I * 16 * n + j * J * 16 : 0, n, k, l > 0,
              keep_a ? (i + l ? 2 : 1) : 0, keep_b ? (j + l ? 2 : 1) : 0);
      }
}

static void run(void) {
  static const u64 shapes[6][3] = {{512, 512, 512}, {12544, 256, 64}, {12544, 64, 256}, {3136, 512, 128}, {3136, 128, 512}, {784, 1024, 256}};
  KEEP_LOOP for (int s = 0; s < 6; s++) {
    const u64 *p = shapes[s];
    const char *name = label("vendor", "", (u32)p[0], "", (u32)p[1], "", (u32)p[2]);
    CASE(name, FLUSH(), product(p[0], p[1], p[2]));
  }
}
