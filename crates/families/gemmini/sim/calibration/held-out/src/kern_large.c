/* Longer ones: operands beyond the L1, matrices that fill a good part of the L2, many blocks. */
#include "blocks.h"
FREE(g44, 4, 4, 4, TWO | WIDE | HALVES, 0, -2)
FREE(g22, 2, 2, 8, TWO, 0, -2)
FREE(g48, 4, 8, 2, TWO | KIN, 0, -2)
FREE(gkeep, 4, 4, 4, BKEEP | TWO | HALVES | WIDE, 1, -2)
FREE(ghold, 8, 2, 4, HOLD | TWO | HALVES, 0, -2)
FREE(gfull, 4, 4, 4, FULL | TWO, 0, 0)
#define SIZE(M, N, K) rM = M; rN = N; rK = K
static NOINLINE void loops(int M, int N, int K, int ti, int tj, int tk) {
  cfg_ex(1, 0, 0, 0); cfg_st((u64)N, 0, -2); cfg_ld((u64)K, 0); cfg_ld((u64)N, 1); cfg_ld(0, 2);
  for (int i = 0; i < M / 16; i += ti) for (int j = 0; j < N / 16; j += tj) for (int k = 0; k < K / 16; k += tk)
    loop_ws((u64)ti, (u64)tj, (u64)tk, 0, 0, 0, A + i * 16 * K + k * 16, B + k * 16 * N + j * 16, 0, k + tk == K / 16 ? C + i * 16 * N + j * 16 : 0, (u64)K, (u64)N, 0, (u64)N, k > 0, 0);
}
static void run(void) {
  fill(A, 65536, 21); fill(B, 65536, 22);
  DO("g4x4x4_192x192x128", 192 * 192, { SIZE(192, 192, 128); g44(); });
  DO("g2x2x8_128x128x256", 128 * 128, { SIZE(128, 128, 256); g22(); });
  DO("g4x8x2_192x256x96", 192 * 256, { SIZE(192, 256, 96); g48(); });
  DO("gkeep_512x64x128", 512 * 64, { SIZE(512, 64, 128); gkeep(); });
  DO("ghold_512x96x64", 512 * 96, { SIZE(512, 96, 64); ghold(); });
  DO("gfull_128x192x128", 128 * 192 * 4, { SIZE(128, 192, 128); gfull(); });
  DO("loops_8x4x4_256x256x128", 256 * 256, loops(256, 256, 128, 8, 4, 4));
  DO("loops_4x2x4_256x128x128", 256 * 128, loops(256, 128, 128, 4, 2, 4));
}
