/* Core and accelerator at the same lines and the same L2; loops aligned, so that the fetch unit does not show. */
#include "tables.h"
static u8 A[64 * 1024] ALIGNED(4096);
static u8 B[64 * 1024] ALIGNED(4096);
static u64 hot[64] ALIGNED(64);
static volatile u64 sink;
#define CL "t0","t1","t2","t3","t4","t5","t6","a0","a1","a2","a3","a4","a5","a6","a7","ra","memory"
#define R(n, s) ".rept " #n "\n" s "\n.endr\n"
#define WITH(ptr, text) __asm__ volatile("mv a0, %0\n" text :: "r"(ptr) : CL)
static NOINLINE u64 rd(const void *p, const void *e, u64 step) {
  u64 s = 0;
  __asm__ volatile(".balign 16\n1: ld t0, 0(%0)\n add %1, %1, t0\n add %0, %0, %3\n bltu %0, %2, 1b" : "+r"(p), "+r"(s) : "r"(e), "r"(step) : "t0", "memory");
  return s;
}
static NOINLINE void wr(void *p, void *e, u64 step) {
  __asm__ volatile(".balign 16\n1: sd x0, 0(%0)\n add %0, %0, %2\n bltu %0, %1, 1b" : "+r"(p) : "r"(e), "r"(step) : "memory");
}
static void run(void) {
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2); cfg_st(64, 0, 0);
  fill_tiles(A, 16, 64, 16, 64, 2 * BANK, 64, 2048);
  for (int i = 0; i < 16; i++) MVIN(A + i * 1024, (u32)i * 64, 64, 16);
  for (int i = 0; i < 16; i++) MVIN(B + i * 1024, (u32)i * 64, 64, 16);
  FENCE();
  CASE("reads_alone", , sink = rd(B, B + 96 * 64, 64));
  CASE("mvin_while_core_reads", , { go_mvin(tab, 8); sink = rd(B, B + 96 * 64, 64); });
  CASE("mvin_while_core_reads_same", , { go_mvin(tab, 8); sink = rd(A, A + 96 * 64, 64); });
  CASE("mvin_while_core_reads_misses", (void)rd(B + 32768, B + 65536, 64), { go_mvin(tab, 8); sink = rd(B, B + 64 * 64, 64); });
  CASE("mvin_while_core_reads_same_misses", (void)rd(B + 32768, B + 65536, 64), { go_mvin(tab, 8); sink = rd(A, A + 64 * 64, 64); });
  CASE("mvin_while_core_writes", , { go_mvin(tab, 8); wr(B, B + 64 * 64, 64); });
  CASE("mvin_while_core_writes_same", , { go_mvin(tab, 8); wr(A, A + 64 * 64, 64); });
  CASE("mvin_dirty_while_core_reads_same", wr(A, A + 64 * 64, 64), { go_mvin(tab, 4); sink = rd(A, A + 64 * 64, 64); });
  CASE("mvin_dirty_while_core_reads_hits", (wr(A, A + 64 * 64, 64), (void)rd(hot, hot + 64, 8)), { go_mvin(tab, 4); for (int i = 0; i < 4; i++) sink = rd(hot, hot + 64, 8); });
  CASE("sd_fence_sd_x8", , WITH(hot, R(8, "sd x0, 0(a0)\nfence")));
  CASE("ld_fence_ld_x8", , WITH(hot, R(8, "ld t0, 0(a0)\nfence")));
  CASE("sd_fence_nop_sd_x8", , WITH(hot, R(8, "sd x0, 0(a0)\nfence\nnop\nnop\nnop\nnop")));
  CASE("fence_ld_x8", , WITH(hot, R(8, "fence\nld x0, 0(a0)\nnop\nnop\nnop\nnop\nnop")));
}
