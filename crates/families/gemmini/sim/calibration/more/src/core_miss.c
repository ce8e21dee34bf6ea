/* Misses of the core's L1: loads and stores, clean and dirty victims. */
#include "cal.h"
static u64 big[16 * 1024] ALIGNED(4096);       /* 128 KB */
static volatile u64 sink;
static NOINLINE u64 rd(const void *p, const void *e, u64 step) {
  u64 s = 0;
  __asm__ volatile(".balign 16\n1: ld t0, 0(%0)\n add %1, %1, t0\n add %0, %0, %3\n bltu %0, %2, 1b" : "+r"(p), "+r"(s) : "r"(e), "r"(step) : "t0", "memory");
  return s;
}
static NOINLINE void wr(void *p, void *e, u64 step) {
  __asm__ volatile(".balign 16\n1: sd x0, 0(%0)\n add %0, %0, %2\n bltu %0, %1, 1b" : "+r"(p) : "r"(e), "r"(step) : "memory");
}
static NOINLINE void wr2(void *p, void *e, u64 step) {
  __asm__ volatile(".balign 16\n1: sd x0, 0(%0)\n sd x0, 8(%0)\n add %0, %0, %2\n bltu %0, %1, 1b" : "+r"(p) : "r"(e), "r"(step) : "memory");
}
static NOINLINE void wrld(void *p, void *e, u64 step) {
  __asm__ volatile(".balign 16\n1: sd x0, 0(%0)\n ld t0, 8(%0)\n add %0, %0, %2\n bltu %0, %1, 1b" : "+r"(p) : "r"(e), "r"(step) : "t0", "memory");
}
#define L(n) ((u8 *)big + (n) * 64)
static void run(void) {
  CASE("read_clean_16", rd(L(1024), L(2048), 64), sink = rd(L(0), L(16), 64));
  CASE("write_clean_16", rd(L(1024), L(2048), 64), wr(L(0), L(16), 64));
  CASE("write2_clean_16", rd(L(1024), L(2048), 64), wr2(L(0), L(16), 64));
  CASE("writeld_clean_16", rd(L(1024), L(2048), 64), wrld(L(0), L(16), 64));
  CASE("write_dense_clean_16", rd(L(1024), L(2048), 64), wr(L(0), L(16), 8));
  CASE("read_dirty_16", wr(L(1024), L(2048), 64), sink = rd(L(0), L(16), 64));
  CASE("write_dirty_16", wr(L(1024), L(2048), 64), wr(L(0), L(16), 64));
  CASE("write2_dirty_16", wr(L(1024), L(2048), 64), wr2(L(0), L(16), 64));
  CASE("writeld_dirty_16", wr(L(1024), L(2048), 64), wrld(L(0), L(16), 64));
  CASE("write_dense_dirty_16", wr(L(1024), L(2048), 64), wr(L(0), L(16), 8));
  CASE("write_hit_8", rd(L(0), L(8), 64), wr(L(0), L(8), 64));
  CASE("write_again_8", wr(L(0), L(8), 64), wr(L(0), L(8), 64));
  { u8 *p; CASE("cold_read_16", p = cold(4096), sink = rd(p, p + 1024, 64)); }
  { u8 *p; CASE("cold_write_16", p = cold(4096), wr(p, p + 1024, 64)); }
  CASE("fence_write_miss_4", wr(L(1024), L(2048), 64), { __asm__ volatile("sd x0, 0(%0)\nfence\nsd x0, 64(%0)\nfence\nsd x0, 128(%0)\nfence\nsd x0, 192(%0)\nfence" :: "r"(L(0)) : "memory"); });
}
