/* Results in the array that a command behind them reads: the array waits until they
 * are written, and flushes those that only leave with another operation. */
#include "cal.h"

static u8 buf[8192] ALIGNED(4096);

#define TIMES(n, x) KEEP_LOOP for (int i_ = 0; i_ < (n); i_++) { x; }
static NOINLINE void into_a(int n)     { TIMES(n, PRELOAD(0, 32); COMP_D(32, 16)) }
static NOINLINE void into_b(int n)     { TIMES(n, PRELOAD(0, 48); COMP_D(16, 48)) }
static NOINLINE void into_d(int n)     { TIMES(n, PRELOAD(64, 64); COMP_D(0, 16)) }
static NOINLINE void into_none(int n)  { TIMES(n, PRELOAD(0, 80); COMP_D(16, 32)) }
static NOINLINE void into_next(int n)  { TIMES(n, PRELOAD(0, 80 + (i_ & 1) * 16); COMP_D(80 + ((i_ + 1) & 1) * 16, 32)) }
static NOINLINE void into_third(int n) { TIMES(n, PRELOAD(0, 80 + (i_ % 3) * 16); COMP_D(80 + ((i_ + 1) % 3) * 16, 32)) }
static NOINLINE void apart(int n)      { TIMES(n, PRELOAD(0, AC_NEW); COMP_D(32, 16)) }
static NOINLINE void bank(int n)       { TIMES(n, PRELOAD(0, BANK + 32); COMP_D(BANK + 32, 16)) }
static NOINLINE void late(int n)       { TIMES(n, PRELOAD(0, 32); TIMES(20, __asm__ volatile("nop")) COMP_D(32, 16)) }
static NOINLINE void small(int n)      { TIMES(n, PRELOAD_R(0, 32, 4); COMP_R(32, 4)) }

static void run(void) {
  static const struct { const char *names[2]; void (*go)(int); } kinds[] = {
    {{"os_into_a", "ws_into_a"}, into_a},       {{"os_into_b", "ws_into_b"}, into_b},
    {{"os_into_d", "ws_into_d"}, into_d},       {{"os_into_none", "ws_into_none"}, into_none},
    {{"os_into_next", "ws_into_next"}, into_next}, {{"os_into_third", "ws_into_third"}, into_third},
    {{"os_apart", "ws_apart"}, apart},          {{"os_bank", "ws_bank"}, bank},
    {{"os_late", "ws_late"}, late},             {{"os_small", "ws_small"}, small},
  };
  static const int counts[] = {1, 2, 10};
  for (int ws = 0; ws < 2; ws++) {
    cfg_ex(ws, 0, 0, 0);
    cfg_ld(16, 0);
    for (int i = 0; i < 16; i++) {
      MVIN(buf + i * 256, (u32)i * 16, 16, 16);
      MVIN(buf + i * 256, BANK + (u32)i * 16, 16, 16);
    }
    FENCE();
    for (u64 kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
      for (int k = 0; k < 3; k++)
        CASE(label(kinds[kind].names[ws], "n", (u32)counts[k], 0, 0, 0, 0), , kinds[kind].go(counts[k]));
  }
}
