/* Mixtures of moves and products in whole tiles and odd ones. */
#include "random.h"
static const struct mix even = {.weight = {[LD0] = 4, [LD1] = 3, [WS] = 6, [STACC] = 2}},
  heavy_store = {.weight = {[LD0] = 2, [WS] = 3, [STACC] = 4, [STSPAD] = 3, [STFULL] = 1}},
  odd = {.weight = {[LD0] = 3, [LD1] = 2, [WS] = 5, [WSKEEP] = 2, [STACC] = 2, [STSPAD] = 1}, .odd_width = 1, .odd_rows = 1},
  slipped = {.weight = {[LD0] = 4, [LD1] = 3, [WS] = 3, [STACC] = 2, [STSPAD] = 1}, .misaligned = 1},
  wild = {.weight = {[LD0] = 3, [LD1] = 2, [LD2] = 1, [LDACC] = 1, [ADDACC] = 1, [ZERO] = 1, [WS] = 5, [WSKEEP] = 2, [STACC] = 2, [STSPAD] = 1, [STFULL] = 1}, .odd_width = 1, .odd_rows = 1, .misaligned = 1},
  bursts = {.weight = {[LD0] = 3, [LD1] = 2, [WS] = 4, [WSKEEP] = 1, [STACC] = 2, [STSPAD] = 1}, .burst = 8};
static void run(void) {
  touch(A, 65536); touch(B, 65536);
  for (u32 s = 0; s < 5; s++) mixture("even", &even, s, 24, 1);
  for (u32 s = 0; s < 5; s++) mixture("stores", &heavy_store, s, 20, 1);
  for (u32 s = 0; s < 6; s++) mixture("odd", &odd, s, 30, 1);
  for (u32 s = 0; s < 6; s++) mixture("slipped", &slipped, s, 20, 1);
  for (u32 s = 0; s < 8; s++) mixture("wild", &wild, s, 32, 1);
  for (u32 s = 0; s < 6; s++) mixture("bursts", &bursts, s, 48, 1);
}
