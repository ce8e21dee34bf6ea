/* What the event counters show, and what accesses to them cost. Lines `COUNT case
 * event value` tell what was counted from the first command to the fence behind the
 * last one, in the third repetition. */
#include "cal.h"

static u8 buf[4096] ALIGNED(4096);
static u8 out[4096] ALIGNED(4096);

static inline __attribute__((always_inline)) u64 access(u64 what) {
  u64 value;
  __asm__ volatile(".insn r 0x7b, 7, 126, %0, %1, x0" : "=r"(value) : "r"(what) : "memory");
  return value;
}
enum { RESET = 1, CONFIGURE = 8 };
#define READ(idx) access((u64)(idx) << 4)
static NOINLINE void count(const u8 *events) {
  for (u64 idx = 0; idx < 8; idx++) access((u64)events[idx] << 12 | idx << 4 | CONFIGURE);
}

static NOINLINE void moves_in(int n)  { KEEP_LOOP for (int i = 0; i < n; i++) MVIN(buf + i * 256, i * 16, 16, 16); }
static NOINLINE void moves(int n)     { KEEP_LOOP for (int i = 0; i < n; i++) { MVIN(buf + i * 256, i * 16, 16, 16); MVOUT(out + i * 256, i * 16, 16, 16); } }
static NOINLINE void products(int n)  { KEEP_LOOP for (int i = 0; i < n; i++) { PRELOAD(i * 16, AC_NEW + i * 16); COMP(i * 16); } }
static NOINLINE void hazards(int n)   { KEEP_LOOP for (int i = 0; i < n; i++) { PRELOAD(0, 32); COMP_D(32, 16); } }
static NOINLINE void all(int n)       { moves_in(n); products(n); moves(n); }

static const u8 events[5][8] = {
  {1, 2, 3, 4, 5, 6, 7, 9}, {8, 10, 11, 12, 14, 16, 17, 18}, {20, 21, 23, 24, 25, 26, 27, 28},
  {29, 30, 31, 32, 33, 34, 35, 36}, {37, 41, 42, 43, 44, 13, 15, 19},
};
static u32 counted[5][7][8];

static void run(void) {
  static const struct { const char *name, *reads; void (*go)(int); int n, os; } kinds[] = {
    {"moves_in", "read_moves_in", moves_in, 16, 0}, {"moves", "read_moves", moves, 16, 0},
    {"products", "read_products", products, 16, 0}, {"all", "read_all", all, 8, 0},
    {"os_products", "read_os_products", products, 8, 1}, {"hazards", "read_hazards", hazards, 8, 0},
    {"os_hazards", "read_os_hazards", hazards, 8, 1},
  };
  cfg_ld(16, 0);
  cfg_st(16, 0, 0);
  static volatile u64 sink;
  for (u64 kind = 0; kind < 7; kind++) {
    cfg_ex(!kinds[kind].os, 0, 0, 0);
    CASE(kinds[kind].reads, , ({ kinds[kind].go(kinds[kind].n); sink = READ(0); sink = READ(1); }));
    for (int set = 0; set < 5; set++)
      CASE(label(kinds[kind].name, "set", (u32)set, 0, 0, 0, 0), , ({
        access(RESET);
        count(events[set]);
        kinds[kind].go(kinds[kind].n);
        FENCE();
        for (u64 idx = 0; idx < 8; idx++) counted[set][kind][idx] = (u32)READ(idx);
      }));
  }
  for (u64 kind = 0; kind < 7; kind++)
    for (int set = 0; set < 5; set++)
      for (int idx = 0; idx < 8; idx++) {
        puts_("COUNT\t"); puts_(kinds[kind].name); put('\t');
        putnum(events[set][idx]); put('\t'); putnum(counted[set][kind][idx]); put('\n');
      }
}
