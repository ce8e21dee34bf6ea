/* Small products in a chain, work of the core between commands, random mixtures. */
#include "tables.h"
static u8 A[64 * 1024] ALIGNED(4096);
static u8 B[64 * 1024] ALIGNED(4096);
static u8 C[64 * 1024] ALIGNED(4096);
static i32 D[16 * 1024] ALIGNED(4096);
static u64 seed = 88172645463325252ul;
static u32 rnd(void) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return (u32)(seed >> 20); }
static NOINLINE void mv_chain(int steps, u32 m, u32 k) {       /* x' = A x, result read by the core, as in a solver */
  for (int s = 0; s < steps; s++) {
    MVIN(B + s * 64, BANK, 1, k);
    PRELOAD_R(BANK, AC_NEW, m);
    COMP_R(0, m);
    MVOUT(C + s * 64, AC_NEW, 1, m);
    FENCE();
    for (u32 i = 0; i < m; i++) B[(s + 1) * 64 + i * 4] = (u8)(C[s * 64 + i * 4] + 1);
  }
}
static NOINLINE void small_mm(u32 m, u32 n, u32 k) {            /* one fenced product with bias */
  cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(256, 2);
  MVIN3(D, AC_NEW, n, m);
  MVIN(A, 0, k, m);
  MVIN2(B, BANK, n, k);
  GEM(F_PRELOAD, loc(BANK, n, k), loc(AC_SUM, n, m));
  GEM(F_COMP, loc(0, k, m), loc(NOADDR, n, m));
  MVOUT(C, AC_NEW, n, m);
  FENCE();
}
static NOINLINE u64 core_work(const u8 *p, int n) { u64 s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += ((const volatile u8 *)p)[i * 64]; return s; }
static volatile u64 sink;
static struct { u64 a, b; u8 kind; } ops[256];
static NOINLINE void random_ops(int n, int mix) {
  for (int i = 0; i < n; i++) {
    u32 k = rnd() % 8, w = mix & 1 ? 1 + rnd() % 64 : 16u << (rnd() % 3), r = mix & 2 ? 1 + rnd() % 16 : 16;
    if (w > 64) w = 64;
    if (k < 3) { ops[i].kind = 0; ops[i].a = (u64)A + (rnd() % 32) * 1024 + (mix & 4 ? rnd() % 64 : 0); ops[i].b = loc((rnd() % 4) * BANK + (rnd() % 8) * 64, w, r); }
    else if (k < 6) { ops[i].kind = 1; ops[i].a = (u64)(rnd() % 64) * 16 ; ops[i].b = (u64)(rnd() % 32) * 16; }
    else { ops[i].kind = 2; if (mix & 8 && w > 16) w = 16; ops[i].a = (u64)C + (rnd() % 32) * 1024 + (mix & 4 ? rnd() % 64 : 0);
      ops[i].b = mix & 8 ? loc(AC_WIDE + (rnd() % 16) * 64, w, r) : k == 6 ? loc(AC_NEW + (rnd() % 16) * 64 % 960, w, r) : loc((rnd() % 4) * BANK + (rnd() % 8) * 64, w, r); }
  }
}
static NOINLINE void go_ops(int n) {
  KEEP_LOOP for (int i = 0; i < n; i++) {
    if (ops[i].kind == 0) GEM(F_MVIN, ops[i].a, ops[i].b);
    else if (ops[i].kind == 2) GEM(F_MVOUT, ops[i].a, ops[i].b);
    else { PRELOAD((ops[i].b & 15) == 0 ? BANK + (u32)ops[i].b % 512 : BANK, AC_NEW + (u32)ops[i].a % 1008 / 16 * 16); COMP((u32)(ops[i].b & 1 ? 0 : ops[i].b)); }
  }
}
static void run(void) {
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2); cfg_st(64, 0, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int b = 0; b < 4; b++) for (int i = 0; i < 16; i++) MVIN(A, (u32)b * BANK + (u32)i * 64, 64, 16);
  FENCE();
  cfg_ld(4, 0); cfg_st(4, 0, 0);
  CASE("mv_chain_4x4_x4", , mv_chain(4, 4, 4));
  CASE("mv_chain_12x12_x6", , mv_chain(6, 12, 12));
  CASE("small_4x4x4", , small_mm(4, 4, 4));
  CASE("small_12x4x12", , small_mm(12, 4, 12));
  CASE("small_7x9x11", , small_mm(7, 9, 11));
  CASE("small_x4", , { small_mm(4, 4, 12); small_mm(12, 4, 4); small_mm(12, 1, 12); small_mm(4, 1, 12); });
  cfg_ld(64, 0); cfg_st(64, 0, 0);
  fill_tiles(A, 16, 64, 16, 64, 2 * BANK, 64, 2048);
  CASE("mvin_while_core_reads", , { go_mvin(tab, 8); sink = core_work(B, 200); });
  CASE("mvin_while_core_reads_same", , { go_mvin(tab, 8); sink = core_work(A, 200); });
  CASE("core_between", , for (int i = 0; i < 8; i++) { GEM(F_MVIN, tab[i].a, tab[i].b); sink = core_work(B + i * 1024, 8); });
  for (int m = 0; m < 16; m++) for (int s = 0; s < (m < 8 ? 4 : 2); s++) {
    random_ops(20, m);
    CASE(label("random20", "mix", (u32)m, "s", (u32)s, 0, 0), , go_ops(20));
  }
  for (int m = 0; m < 6; m++) { random_ops(100, m); CASE(label("random100", "mix", (u32)m, 0, 0, 0, 0), , go_ops(100)); }
}
