/* Scalar loops whose body starts at each offset of a fetch word, loads in the L1. */
#include "tables.h"
static u8 A[16 * 1024] ALIGNED(4096);
static volatile u64 sink;
#define LOOPF(name, pad, ld) static NOINLINE u64 name(const u8 *p, i64 n, i64 step) { u64 s = 0, t; \
  __asm__ volatile(".balign 16\n" pad "1: " ld " %1, 0(%2)\n add %2, %2, %4\n addi %3, %3, -1\n add %0, %0, %1\n bnez %3, 1b\n" : "+r"(s), "=&r"(t), "+r"(p), "+r"(n) : "r"(step)); return s; }
#define N2 ".option push\n.option rvc\nc.nop\n.option pop\n"
LOOPF(lb0, "", "lbu") LOOPF(lb2, N2, "lbu") LOOPF(lb4, N2 N2, "lbu") LOOPF(lb6, N2 N2 N2, "lbu")
LOOPF(ld0, "", "ld") LOOPF(ld2, N2, "ld")
#define LOOPG(name, pad) static NOINLINE u64 name(const u8 *p, i64 n) { u64 s = 0, t; const u8 *e = p + n * 64; \
  __asm__ volatile(".balign 16\n" pad ".option push\n.option norvc\n1: lbu %1, 0(%2)\n addi %2, %2, 64\n .option rvc\n add %0, %0, %1\n .option norvc\n bne %2, %3, 1b\n.option pop\n" : "+r"(s), "=&r"(t), "+r"(p) : "r"(e)); return s; }
LOOPG(g0, "") LOOPG(g2, N2) LOOPG(g4, N2 N2) LOOPG(g6, N2 N2 N2)
#define C2(f) CASE(#f "_n8", , sink = f(A, 8, 8)); CASE(#f "_n40", , sink = f(A, 40, 8)); CASE(#f "_n40_x64", , sink = f(A, 40, 64));
#define C3(f) CASE(#f "_n8", , sink = f(A, 8)); CASE(#f "_n40", , sink = f(A, 40)); CASE(#f "_n200", , sink = f(A, 200)); CASE(#f "_n8x4", , for (int i = 0; i < 4; i++) sink = f(A, 8));
static void run(void) {
  touch(A, sizeof A);
  C2(lb0) C2(lb2) C2(lb4) C2(lb6) C2(ld0) C2(ld2)
  C3(g0) C3(g2) C3(g4) C3(g6)
  cfg_ld(64, 0);
  CASE("g2_mvin", , { for (int i = 0; i < 4; i++) { MVIN(A, (u32)i * 64, 64, 16); sink = g2(A + i * 1024, 8); } });
  CASE("g2_cfg", , { for (int i = 0; i < 4; i++) { cfg_ld(64, 0); sink = g2(A + i * 1024, 8); } });
}
