/* The same with sizes that the routine learns at run time, many of them no multiples of the tile. */
#include "blocks.h"
FREE(f22, 2, 2, 2, TWO, 0, -1)
FREE(f33, 3, 3, 2, HALVES | KIN, 0, -1)
FREE(f44, 4, 4, 4, WIDE | TWO | HALVES, 1, -1)
FREE(f14b, 1, 4, 4, BIAS | WIDE, 0, -1)
FREE(f41h, 4, 1, 4, HOLD | LATE | TWO, 0, 0)
FREE(f42full, 4, 2, 2, FULL | ROWBIAS, 0, 0)
FREE(fkeep, 2, 4, 4, BKEEP | TWO | HALVES, 0, -2)
#define SIZE(M, N, K) rM = M; rN = N; rK = K
static void run(void) {
  fill(A, 32768, 3); fill(B, 32768, 4); fill_words(D, 16384);
  DO("f2x2x2_50x70x90", 50 * 70, { SIZE(50, 70, 90); f22(); });
  DO("f2x2x2_33x33x33", 33 * 33, { SIZE(33, 33, 33); f22(); });
  DO("f3x3x2_100x30x60", 100 * 30, { SIZE(100, 30, 60); f33(); });
  DO("f4x4x4_96x80x112", 96 * 80, { SIZE(96, 80, 112); f44(); });
  DO("f4x4x4_17x129x31", 17 * 129, { SIZE(17, 129, 31); f44(); });
  DO("f1x4x4_bias_40x72x40", 40 * 72, { SIZE(40, 72, 40); f14b(); });
  DO("f1x4x4_bias_16x192x64", 16 * 192, { SIZE(16, 192, 64); f14b(); });
  DO("f4x1x4_hold_late_150x20x64", 150 * 20, { SIZE(150, 20, 64); f41h(); });
  DO("f4x2x2_full_64x36x50", 64 * 36 * 4, { SIZE(64, 36, 50); f42full(); });
  DO("fkeep_160x64x48", 160 * 64, { SIZE(160, 64, 48); fkeep(); });
  DO("fkeep_90x100x20", 90 * 100, { SIZE(90, 100, 20); fkeep(); });
}
