/* The hardware matrix loop: odd blocks, bias, full width, transposes, chains. */
#include "blocks.h"
INL void lws(u64 I, u64 J, u64 K, u64 pi, u64 pj, u64 pk, const void *a, const void *b, const void *d, void *c, u64 sa, u64 sb, u64 sd, u64 sc, u64 acc, u64 fullc, u64 act, u64 ta, u64 tb) {
  GEM(F_LWS_BOUNDS, (pk << 32) | (pj << 16) | pi, (K << 32) | (J << 16) | I);
  GEM(F_LWS_AB, a, b); GEM(F_LWS_DC, d, c); GEM(F_LWS_STR_AB, sa, sb); GEM(F_LWS_STR_DC, sd, sc);
  GEM(F_LWS_RUN, (act << 8) | (fullc << 1) | acc, (tb << 1) | ta);
}
/* bias: 0 none, 1 full matrix, 2 one row; ta/tb: A is [K][M], B is [N][K] */
static NOINLINE void loop_blocks(int M, int N, int K, int ti, int tj, int tk, int bias, int full, int act, int sh, int ta, int tb) {
  const int ni = CEIL16(M), nj = CEIL16(N), nk = CEIL16(K); const u64 es = full ? 4 : 1;
  const u64 sa = (u64)(ta ? M : K), sb = (u64)(tb ? K : N);
  cfg_ex(1, act, ta, tb); cfg_st((u64)N * es, act, sh); cfg_ld(sa, 0); cfg_ld(sb, 1); cfg_ld(bias == 2 ? 0 : (u64)N * 4, 2);
  for (int i = 0; i < ni; i += ti) for (int j = 0; j < nj; j += tj) for (int k = 0; k < nk; k += tk) {
    const int a = least(ti, ni - i), b = least(tj, nj - j), c = least(tk, nk - k), last = k + c == nk;
    lws((u64)a, (u64)b, (u64)c, i + a == ni ? (u64)(ni * 16 - M) : 0, j + b == nj ? (u64)(nj * 16 - N) : 0, last ? (u64)(nk * 16 - K) : 0,
        ta ? A + k * 16 * M + i * 16 : A + i * 16 * K + k * 16, tb ? B + j * 16 * K + k * 16 : B + k * 16 * N + j * 16,
        bias && k == 0 ? D + (bias == 1 ? i * 16 * N : 0) + j * 16 : 0, last ? C + (u64)(i * 16 * N + j * 16) * es : 0,
        sa, sb, bias == 2 ? 0 : (u64)N, (u64)N, k > 0 || 0, (u64)full, (u64)act, (u64)ta, (u64)tb);
  }
}
static void run(void) {
  fill(A, 49152, 7); fill(B, 49152, 8); fill_words(D, 16384);
  DO("lb_3x3x3_96x96x96", 9216, loop_blocks(96, 96, 96, 3, 3, 3, 0, 0, 0, -1, 0, 0));
  DO("lb_5x2x4_160x64x64", 10240, loop_blocks(160, 64, 64, 5, 2, 4, 0, 0, 0, -1, 0, 0));
  DO("lb_1x8x8_32x256x128", 8192, loop_blocks(32, 256, 128, 1, 8, 8, 0, 0, 0, -1, 0, 0));
  DO("lb_8x1x6_256x32x96", 8192, loop_blocks(256, 32, 96, 8, 1, 6, 0, 0, 0, -1, 0, 0));
  DO("lb_7x2x3_pad_109x61x77", 109 * 61, loop_blocks(109, 61, 77, 7, 2, 3, 0, 0, 0, -1, 0, 0));
  DO("lb_4x4x4_rowbias_relu_64x64x128", 4096, loop_blocks(64, 64, 128, 4, 4, 4, 2, 0, 1, -1, 0, 0));
  DO("lb_3x4x2_bias_96x64x64", 96 * 64, loop_blocks(96, 64, 64, 3, 4, 2, 1, 0, 0, -1, 0, 0));
  DO("lb_2x2x8_full_64x64x128", 4096 * 4, loop_blocks(64, 64, 128, 2, 2, 8, 0, 1, 0, 0, 0, 0));
  DO("lb_4x3x4_full_bias_64x48x64", 64 * 48 * 4, loop_blocks(64, 48, 64, 4, 3, 4, 1, 1, 0, 0, 0, 0));
  DO("lb_4x4x4_ta_64x64x96", 4096, loop_blocks(64, 64, 96, 4, 4, 4, 0, 0, 0, -1, 1, 0));
  DO("lb_4x4x4_tb_64x64x96", 4096, loop_blocks(64, 64, 96, 4, 4, 4, 0, 0, 0, -1, 0, 1));
  DO("lb_6x5x2_96x160x64", 96 * 160, loop_blocks(96, 160, 64, 6, 5, 2, 0, 0, 0, -1, 0, 0));
  DO("lb_1x1x4_48x48x64", 48 * 48, loop_blocks(48, 48, 64, 1, 1, 4, 0, 0, 0, -1, 0, 0));
  DO("lb_2x16x2_32x512x32", 32 * 512, loop_blocks(32, 512, 32, 2, 16, 2, 0, 0, 0, 0, 0, 0));
}
