/* Mixtures with configurations, fences, the core's own loads, and output-stationary products. */
#include "random.h"
static const struct mix config = {.weight = {[LD0] = 3, [LD1] = 2, [WS] = 4, [STACC] = 2, [CFGLD] = 2, [CFGST] = 1}},
  core = {.weight = {[LD0] = 3, [LD1] = 2, [WS] = 4, [STACC] = 2, [CORE] = 3}},
  fences = {.weight = {[LD0] = 3, [LD1] = 2, [WS] = 4, [STACC] = 2, [CORE] = 1, [FNC] = 1}, .burst = 3},
  stationary = {.weight = {[LD0] = 3, [LD1] = 2, [OS] = 6, [STACC] = 2, [STSPAD] = 1}},
  sums = {.weight = {[LD0] = 1, [LDACC] = 4, [ADDACC] = 4, [STACC] = 2, [STFULL] = 2, [WS] = 2}},
  zeros = {.weight = {[ZERO] = 4, [LD0] = 2, [LD1] = 2, [WS] = 3, [STSPAD] = 2}, .odd_rows = 1},
  all = {.weight = {[LD0] = 3, [LD1] = 2, [LD2] = 2, [LDACC] = 1, [ADDACC] = 1, [ZERO] = 1, [WS] = 6, [WSKEEP] = 2, [STACC] = 2, [STSPAD] = 1, [STFULL] = 1, [CFGLD] = 1, [CFGST] = 1, [CORE] = 2, [FNC] = 1}, .odd_width = 1, .odd_rows = 1, .misaligned = 1, .burst = 4};
static void run(void) {
  touch(A, 65536); touch(B, 65536); touch(E, 16384);
  for (u32 s = 0; s < 5; s++) mixture("config", &config, s + 20, 28, 1);
  for (u32 s = 0; s < 5; s++) mixture("core", &core, s + 20, 24, 1);
  for (u32 s = 0; s < 5; s++) mixture("fences", &fences, s + 20, 24, 1);
  for (u32 s = 0; s < 5; s++) mixture("stationary", &stationary, s + 20, 28, 0);
  for (u32 s = 0; s < 5; s++) mixture("sums", &sums, s + 20, 24, 1);
  for (u32 s = 0; s < 4; s++) mixture("zeros", &zeros, s + 20, 24, 1);
  for (u32 s = 0; s < 8; s++) mixture("all", &all, s + 20, 60, 1);
}
