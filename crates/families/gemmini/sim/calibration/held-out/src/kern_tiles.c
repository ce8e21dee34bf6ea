/* Blocks of C in other shapes, sizes known to the compiler. */
#include "blocks.h"
FIXED(t14, 48, 64, 80, 1, 4, 4, 0, 0, -1)
FIXED(t22, 64, 96, 96, 2, 2, 2, TWO, 0, -1)
FIXED(t44, 128, 64, 64, 4, 4, 4, KIN | WIDE, 0, 0)
FIXED(t33, 96, 96, 48, 3, 3, 3, HALVES | TWO, 1, -1)
FIXED(t42, 64, 64, 160, 4, 2, 2, TWO | LATE, 0, -2)
FIXED(t41hold, 128, 32, 96, 4, 1, 3, HOLD | TWO, 0, 0)
FIXED(t81hold, 128, 48, 64, 8, 1, 4, HOLD | KIN * 0, 1, -2)
FIXED(t24bias, 64, 128, 32, 2, 4, 2, ROWBIAS | WIDE | HALVES, 0, -1)
FIXED(t22full, 48, 48, 64, 3, 3, 4, FULL, 0, 0)
FIXED(t44one, 64, 64, 96, 4, 4, 2, ONEBANK | TWO, 0, 0)
FIXED(t18, 32, 256, 48, 1, 8, 3, TWO | WIDE, 0, 0)
FIXED(t55bkeep, 80, 80, 80, 5, 5, 5, BKEEP | KIN, 0, -1)
static void run(void) {
  fill(A, 32768, 1); fill(B, 24576, 2); fill_words(D, 16384);
  DO("t1x4x4_48x64x80", 48 * 64, t14());
  DO("t2x2x2_two_64x96x96", 64 * 96, t22());
  DO("t4x4x4_kin_wide_128x64x64", 128 * 64, t44());
  DO("t3x3x3_halves_relu_96x96x48", 96 * 96, t33());
  DO("t4x2x2_late_64x64x160", 64 * 64, t42());
  DO("t4x1x3_hold_128x32x96", 128 * 32, t41hold());
  DO("t8x1x4_hold_relu_128x48x64", 128 * 48, t81hold());
  DO("t2x4x2_rowbias_wide_64x128x32", 64 * 128, t24bias());
  DO("t3x3x4_full_48x48x64", 48 * 48 * 4, t22full());
  DO("t4x4x2_onebank_64x64x96", 64 * 64, t44one());
  DO("t1x8x3_two_wide_32x256x48", 32 * 256, t18());
  DO("t5x5x5_bkeep_80x80x80", 80 * 80, t55bkeep());
}
