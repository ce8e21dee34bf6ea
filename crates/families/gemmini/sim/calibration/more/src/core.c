/* The core alone: misses of its caches, write-backs, atomics, long operations, floating point. */
#include "cal.h"
static u64 big[128 * 1024] ALIGNED(4096);       /* 1 MB */
static u64 hot[64] ALIGNED(64);
static volatile u64 sink;
#define CL "t0","t1","t2","t3","t4","t5","t6","a0","a1","a2","a3","a4","a5","a6","a7","ra","memory"
#define A(text) __asm__ volatile(text ::: CL, "ft0","ft1","ft2","ft3","ft4","ft5","ft6","ft7")
#define R(n, s) ".rept " #n "\n" s "\n.endr\n"
#define WITH(ptr, text) __asm__ volatile("mv a0, %0\n" text :: "r"(ptr) : CL)
static NOINLINE u64 read_lines(const void *p, u64 bytes, u64 step) {
  u64 s = 0; const u8 *e = (const u8 *)p + bytes;
  __asm__ volatile("1: ld t0, 0(%0)\n add %1, %1, t0\n add %0, %0, %3\n bltu %0, %2, 1b" : "+r"(p), "+r"(s) : "r"(e), "r"(step) : "t0", "memory");
  return s;
}
static NOINLINE void write_lines(void *p, u64 bytes, u64 step) {
  u8 *e = (u8 *)p + bytes;
  __asm__ volatile("1: sd x0, 0(%0)\n add %0, %0, %2\n bltu %0, %1, 1b" : "+r"(p) : "r"(e), "r"(step) : "memory");
}
static NOINLINE void change_lines(void *p, u64 bytes, u64 step) {
  u8 *e = (u8 *)p + bytes;
  __asm__ volatile("1: ld t0, 0(%0)\n addi t0, t0, 1\n sd t0, 0(%0)\n add %0, %0, %2\n bltu %0, %1, 1b" : "+r"(p) : "r"(e), "r"(step) : "t0", "memory");
}
static NOINLINE void copy(void *d, const void *s, u64 bytes) {
  u8 *e = (u8 *)d + bytes;
  __asm__ volatile("1: ld t0, 0(%1)\n ld t1, 8(%1)\n ld t2, 16(%1)\n ld t3, 24(%1)\n sd t0, 0(%0)\n sd t1, 8(%0)\n sd t2, 16(%0)\n sd t3, 24(%0)\n addi %0, %0, 32\n addi %1, %1, 32\n bltu %0, %2, 1b" : "+r"(d), "+r"(s) : "r"(e) : "t0", "t1", "t2", "t3", "memory");
}
static NOINLINE u64 chase(const void *p, u64 n) {
  __asm__ volatile("1: ld %0, 0(%0)\n addi %1, %1, -1\n bnez %1, 1b" : "+r"(p), "+r"(n) :: "memory");
  return (u64)p;
}
static void ring(u64 *b, u32 lines, u32 step) { u32 at = 0; for (u32 i = 0; i < lines; i++) { u32 next = (at + step) & (lines - 1); b[at * 8] = (u64)&b[next * 8]; at = next; } }
static NOINLINE void long_code(void) { A(R(4608, "add t0, t1, t2")); }        /* 18 KB where not compressed */
static NOINLINE void code_4k(void) { A(R(1024, "add t0, t1, t2")); }
static NOINLINE void code_jumps(void) { A(R(64, "j 1f\n.balign 256\n1:")); }      /* one instruction per 256 bytes */
static void run(void) {
  CASE("read_dense_4k", , sink = read_lines(big, 4096, 8));
  CASE("read_lines_8k", , sink = read_lines(big, 8192, 64));
  CASE("read_lines_32k", , sink = read_lines(big, 32768, 64));
  CASE("read_dense_32k", , sink = read_lines(big, 32768, 8));
  CASE("read_16B_32k", , sink = read_lines(big, 32768, 16));
  CASE("write_lines_8k", , write_lines(big, 8192, 64));
  CASE("write_lines_32k", , write_lines(big, 32768, 64));
  CASE("write_dense_32k", , write_lines(big, 32768, 8));
  CASE("change_lines_8k", , change_lines(big, 8192, 64));
  CASE("change_lines_32k", , change_lines(big, 32768, 64));
  CASE("read_after_write_32k", write_lines(big + 8192, 16384, 64), sink = read_lines(big, 32768, 64));
  CASE("copy_4k", , copy(big + 4096, big, 4096));
  CASE("copy_16k", , copy(big + 8192, big, 16384));
  ring(big, 128, 37); CASE("chase_8k_x256", , sink = chase(big, 256));
  ring(big, 1024, 397); CASE("chase_64k_x256", , sink = chase(big, 256));
  { u8 *p; CASE("cold_read_lines_4k", p = cold(4096), sink = read_lines(p, 4096, 64)); }
  { u8 *p; CASE("cold_write_lines_4k", p = cold(4096), write_lines(p, 4096, 64)); }
  { u8 *p; CASE("cold_write_dense_4k", p = cold(4096), write_lines(p, 4096, 8)); }
  CASE("code_18k", , long_code());
  CASE("code_4k", , code_4k());
  CASE("code_jumps_256B_x64", , code_jumps());
  CASE("amoadd_hit_x16", , WITH(hot, R(16, "amoadd.d t0, t1, (a0)")));
  CASE("amoadd_use_x16", , WITH(hot, R(16, "amoadd.d t0, t1, (a0)\naddi t0, t0, 1")));
  CASE("amoswap_w_other_x16", , WITH(hot, "addi a1, a0, 64\n" R(8, "amoswap.w t0, t1, (a0)\namoswap.w t0, t1, (a1)")));
  CASE("amo_then_ld_x16", , WITH(hot, R(16, "amoadd.d t0, t1, (a0)\nld t2, 64(a0)")));
  CASE("lr_sc_x8", , WITH(hot, R(8, "lr.d t0, (a0)\nsc.d t2, t1, (a0)")));
  CASE("sd_then_lbu_other_byte_x16", , WITH(hot, R(16, "sb t1, 16(a0)\nlbu t0, 17(a0)")));
  CASE("sd_1_then_ld_same_x16", , WITH(hot, R(16, "sd t1, 16(a0)\nnop\nld t0, 16(a0)")));
  CASE("sd_2_then_ld_same_x16", , WITH(hot, R(16, "sd t1, 16(a0)\nnop\nnop\nld t0, 16(a0)")));
  CASE("sd_3_then_ld_same_x16", , WITH(hot, R(16, "sd t1, 16(a0)\nnop\nnop\nnop\nld t0, 16(a0)")));
  CASE("sd_sd_then_ld_first_x16", , WITH(hot, R(16, "sd t1, 16(a0)\nsd t1, 24(a0)\nld t0, 16(a0)")));
  CASE("ld_sd_ld_sd_stream_x16", , WITH(hot, R(16, "ld t0, 0(a0)\nsd t1, 64(a0)\nld t2, 128(a0)\nsd t3, 192(a0)")));
  CASE("mul_div_x8", , A("li t4,3000\nli t5,5\n" R(8, "mul t0,t4,t5\ndiv t1,t4,t5")));
  CASE("div_then_use_x8", , A("li t4,300000\nli t5,5\n" R(8, "div t1,t4,t5\nadd t1,t1,t1")));
  CASE("div_then_6_nop_x8", , A("li t4,300000\nli t5,5\n" R(8, "div t1,t4,t5\nadd t2,t3,t3\nadd t2,t3,t3\nadd t2,t3,t3\nadd t2,t3,t3\nadd t2,t3,t3\nadd t2,t3,t3")));
  CASE("div_negative_x4", , A("li t4,-300000\nli t5,5\n" R(4, "div t1,t4,t5")));
  CASE("div_by_zero_x4", , A("li t4,300000\nli t5,0\n" R(4, "div t1,t4,t5")));
  CASE("fadd_s_dep_x16", , A("fcvt.s.w ft0, x0\n" R(16, "fadd.s ft0, ft0, ft0")));
  CASE("fadd_s_indep_x16", , A("fcvt.s.w ft0, x0\n" R(8, "fadd.s ft1, ft0, ft0\nfadd.s ft2, ft0, ft0")));
  CASE("fmul_d_dep_x16", , A("fcvt.d.w ft0, x0\n" R(16, "fmul.d ft0, ft0, ft0")));
  CASE("fmadd_s_dep_x16", , A("fcvt.s.w ft0, x0\n" R(16, "fmadd.s ft0, ft0, ft0, ft0")));
  CASE("fmadd_d_indep_x16", , A("fcvt.d.w ft0, x0\n" R(8, "fmadd.d ft1, ft0, ft0, ft0\nfmadd.d ft2, ft0, ft0, ft0")));
  CASE("fdiv_s_x4", , A("li t0, 3\nfcvt.s.w ft0, t0\n" R(4, "fdiv.s ft1, ft0, ft0\nfadd.s ft1, ft1, ft1")));
  CASE("fdiv_d_x4", , A("li t0, 3\nfcvt.d.w ft0, t0\n" R(4, "fdiv.d ft1, ft0, ft0\nfadd.d ft1, ft1, ft1")));
  CASE("fsqrt_s_x4", , A("li t0, 3\nfcvt.s.w ft0, t0\n" R(4, "fsqrt.s ft1, ft0\nfadd.s ft1, ft1, ft1")));
  CASE("fcvt_w_s_x8", , A("li t0, 3\n" R(8, "fcvt.s.w ft0, t0\nfcvt.w.s t0, ft0")));
  CASE("fcmp_branchless_x8", , A("fcvt.s.w ft0, x0\n" R(8, "flt.s t0, ft0, ft0\nadd t1, t0, t0")));
  CASE("fmv_x_w_x8", , A("fcvt.s.w ft0, x0\n" R(8, "fmv.x.w t0, ft0\nadd t1, t0, t0\nfmv.w.x ft1, t1\nfadd.s ft2, ft1, ft1")));
  CASE("flw_fmadd_x16", , WITH(hot, "fcvt.s.w ft1, x0\n" R(16, "flw ft0, 0(a0)\nfmadd.s ft1, ft0, ft0, ft1")));
  CASE("flw_flw_fmul_fsw_x8", , WITH(hot, R(8, "flw ft0, 0(a0)\nflw ft1, 4(a0)\nfmul.s ft2, ft0, ft1\nfsw ft2, 64(a0)")));
  CASE("fadd_s_d_mixed_x8", , A("fcvt.s.w ft0, x0\nfcvt.d.w ft1, x0\n" R(8, "fadd.d ft2, ft1, ft1\nfadd.s ft3, ft0, ft0\nfmin.s ft4, ft0, ft0")));
  CASE("fdiv_indep_x4", , A("li t0, 3\nfcvt.s.w ft0, t0\n" R(4, "fdiv.s ft1, ft0, ft0\nfadd.s ft2, ft0, ft0\nfadd.s ft3, ft0, ft0")));
  CASE("memset_lib_256", , memset(big, 0, 256));
  CASE("memcpy_lib_256", , memcpy(big, big + 64, 256));
  CASE("fence_after_store_miss_x8", write_lines(big, 65536, 64), WITH(big, R(8, "sd x0, 0(a0)\nfence\naddi a0, a0, 64")));
}
