/* The array: output-stationary in odd shapes, transposes, activations, sizes. */
#include "tables.h"
static u8 buf[64 * 1024] ALIGNED(4096);
static u8 out[64 * 1024] ALIGNED(4096);
#define TIMES(n, x) KEEP_LOOP for (int i = 0; i < (n); i++) { x; }
static inline __attribute__((always_inline)) void
cfg_exx(int ws, int act, int ta, int tb, u64 as, u64 cs, u64 shift) {
  GEM(F_CONFIG, (P2F(0) << 32) | (as << 16) | ((u64)tb << 9) | ((u64)ta << 8) | ((u64)act << 3) | ((u64)ws << 2), (cs << 48) | shift);
}
/* prepared: preload(b,c) compute(a,d) with sizes */
static void prep(int n, u32 a, u32 d, u32 b, u32 c, u32 step, u32 cstep, u32 m, u32 k, u32 w) {
  /* A m x k, B k x w (d for ws: m x w), C m x w */
  for (int i = 0; i < n; i++) {
    ptab[i].p1 = loc(b == NOADDR ? NOADDR : b + (u32)i * step, w, k);
    ptab[i].p2 = loc(c == NOADDR ? NOADDR : c + (u32)i * cstep, w, m);
    ptab[i].c1 = loc(a + (u32)i * step, k, m);
    ptab[i].c2 = loc(d == NOADDR ? NOADDR : d + (u32)i * step, w, m);
  }
}
/* output stationary: preload D, C; compute A, B */
static void prep_os(int n, u32 a, u32 b, u32 d, u32 c, u32 step, u32 cstep, u32 m, u32 k, u32 w) {
  for (int i = 0; i < n; i++) {
    ptab[i].p1 = loc(d == NOADDR ? NOADDR : d + (u32)i * step, w, m);
    ptab[i].p2 = loc(c == NOADDR ? NOADDR : c + (u32)i * cstep, w, m);
    ptab[i].c1 = loc(a + (u32)i * step, k, m);
    ptab[i].c2 = loc(b + (u32)i * step, w, k);
  }
}
static void run(void) {
  static const struct { u8 m, k, w; } sz[] = {{16,16,16},{1,16,16},{4,16,16},{7,5,3},{16,4,16},{16,16,4},{12,4,12},{3,16,9},{16,1,1},{8,8,8}};
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_st(64, 0, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int i = 0; i < 16; i++) { MVIN(buf, (u32)i * 64, 64, 16); MVIN(buf, BANK + (u32)i * 64, 64, 16); MVIN(buf, 2 * BANK + (u32)i * 64, 64, 16); MVIN(buf, 3 * BANK + (u32)i * 64, 64, 16); }
  FENCE();
  cfg_ex(0, 0, 0, 0);
  for (unsigned g = 0; g < sizeof sz / sizeof sz[0]; g++) {
    u32 m = sz[g].m, k = sz[g].k, w = sz[g].w;
    prep_os(6, 0, BANK, NOADDR, AC_NEW, 16, 16, m, k, w);
    CASE(label("os_n6", "m", m, "k", k, "w", w), , go_pair(ptab, 6));
  }
  prep_os(6, 0, BANK, 2 * BANK, AC_NEW, 16, 16, 16, 16, 16);
  CASE("os_D_n6", , go_pair(ptab, 6));
  prep_os(6, 0, BANK, 2 * BANK, 3 * BANK, 16, 16, 16, 16, 16);
  CASE("os_D_Cspad_n6", , go_pair(ptab, 6));
  prep_os(6, 0, BANK, 2 * BANK, 3 * BANK, 16, 16, 5, 9, 11);
  CASE("os_D_Cspad_odd_n6", , go_pair(ptab, 6));
  prep_os(6, 0, BANK, 0, AC_NEW, 16, 16, 16, 16, 16);
  CASE("os_D_bankA_n6", , go_pair(ptab, 6));
  prep_os(6, 0, 1024, 2048, AC_NEW, 16, 16, 16, 16, 16);
  CASE("os_all_bank0_n6", , go_pair(ptab, 6));
  /* accumulation in the array: compute_accumulated */
  prep_os(8, 0, BANK, NOADDR, AC_NEW, 16, 0, 16, 16, 16);
  CASE("os_acc_k8", , { GEM(F_PRELOAD, ptab[0].p1, loc(NOADDR, 16, 16)); GEM(F_COMP, ptab[0].c1, ptab[0].c2);
    KEEP_LOOP for (int i = 1; i < 8; i++) { GEM(F_PRELOAD, loc(NOADDR, 16, 16), i == 7 ? loc(AC_NEW, 16, 16) : loc(NOADDR, 16, 16)); GEM(F_COMPACC, ptab[i].c1, ptab[i].c2); } });
  CASE("os_acc_sum_n6", , { for (int i = 0; i < 6; i++) { PRELOAD(NOADDR, AC_SUM); GEM(F_COMP, ptab[i].c1, ptab[i].c2); } });
  cfg_ex(0, 0, 1, 0);
  for (unsigned g = 0; g < 5; g++) {
    u32 m = sz[g].m, k = sz[g].k, w = sz[g].w;
    prep_os(6, 0, BANK, NOADDR, AC_NEW, 16, 16, m, k, w);
    CASE(label("os_ta_n6", "m", m, "k", k, "w", w), , go_pair(ptab, 6));
  }
  cfg_ex(0, 0, 1, 1);
  for (unsigned g = 0; g < 5; g++) {
    u32 m = sz[g].m, k = sz[g].k, w = sz[g].w;
    prep_os(6, 0, BANK, NOADDR, AC_NEW, 16, 16, m, k, w);
    CASE(label("os_tb_n6", "m", m, "k", k, "w", w), , go_pair(ptab, 6));
  }
  cfg_ex(0, 1, 0, 0);
  prep_os(6, 0, BANK, NOADDR, 3 * BANK, 16, 16, 16, 16, 16);
  CASE("os_relu_spad_n6", , go_pair(ptab, 6));
  cfg_exx(0, 0, 0, 0, 1, 1, 3);
  CASE("os_shift_spad_n6", , go_pair(ptab, 6));
  cfg_exx(0, 0, 0, 0, 2, 1, 0);
  prep_os(6, 0, BANK, NOADDR, AC_NEW, 32, 32, 16, 16, 16);
  CASE("os_strides2_n6", , go_pair(ptab, 6));
  /* weight stationary */
  cfg_ex(1, 0, 0, 0);
  for (unsigned g = 0; g < sizeof sz / sizeof sz[0]; g++) {
    u32 m = sz[g].m, k = sz[g].k, w = sz[g].w;
    prep(8, 0, NOADDR, BANK, AC_NEW, 16, 16, m, k, w);
    CASE(label("ws_n8", "m", m, "k", k, "w", w), , go_pair(ptab, 8));
  }
  prep(8, 0, 2 * BANK, BANK, AC_NEW, 16, 16, 16, 16, 16);
  CASE("ws_D_n8", , go_pair(ptab, 8));
  prep(8, 0, 2 * BANK, BANK, 3 * BANK, 16, 16, 5, 16, 16);
  CASE("ws_D_Cspad_m5_n8", , go_pair(ptab, 8));
  prep(8, 0, NOADDR, BANK, AC_SUM, 16, 0, 16, 16, 16);
  CASE("ws_sum_same_n8", , go_pair(ptab, 8));
  prep(8, 0, NOADDR, BANK, AC_SUM, 16, 0, 4, 16, 16);
  CASE("ws_sum_same_m4_n8", , go_pair(ptab, 8));
  prep(8, 0, NOADDR, BANK, AC_NEW, 16, 16, 4, 16, 16);
  for (int i = 1; i < 8; i++) ptab[i].p1 = loc(NOADDR, 16, 16);
  CASE("ws_reuse_m4", , { GEM(F_PRELOAD, ptab[0].p1, ptab[0].p2); GEM(F_COMP, ptab[0].c1, ptab[0].c2); go_pair_acc(ptab + 1, 7); });
  cfg_ex(1, 0, 1, 0);
  for (unsigned g = 0; g < 4; g++) {
    u32 m = sz[g].m, k = sz[g].k, w = sz[g].w;
    prep(6, 0, NOADDR, BANK, AC_NEW, 16, 16, m, k, w);
    CASE(label("ws_ta_n6", "m", m, "k", k, "w", w), , go_pair(ptab, 6));
  }
  cfg_ex(1, 0, 0, 1);
  for (unsigned g = 0; g < 4; g++) {
    u32 m = sz[g].m, k = sz[g].k, w = sz[g].w;
    prep(6, 0, NOADDR, BANK, AC_NEW, 16, 16, m, k, w);
    CASE(label("ws_tb_n6", "m", m, "k", k, "w", w), , go_pair(ptab, 6));
  }
  cfg_ex(1, 1, 0, 0);
  prep(6, 0, NOADDR, BANK, 3 * BANK, 16, 16, 16, 16, 16);
  CASE("ws_relu_spad_n6", , go_pair(ptab, 6));
  cfg_ex(1, 0, 0, 0);
  prep(4, 0, NOADDR, BANK, 3 * BANK, 16, 16, 16, 16, 16);
  CASE("ws_chain_spad", , { go_pair(ptab, 1); PRELOAD(BANK + 64, 2 * BANK); COMP(3 * BANK); PRELOAD(BANK + 128, AC_NEW); COMP(2 * BANK); });
  prep(4, 0, NOADDR, BANK, 3 * BANK, 16, 16, 4, 4, 4);
  CASE("ws_chain_spad_4", , { go_pair(ptab, 1); GEM(F_PRELOAD, loc(BANK + 64, 4, 4), loc(2 * BANK, 4, 4)); GEM(F_COMP, loc(3 * BANK, 4, 4), loc(NOADDR, 4, 4)); GEM(F_PRELOAD, loc(BANK + 128, 4, 4), loc(AC_NEW, 4, 4)); GEM(F_COMP, loc(2 * BANK, 4, 4), loc(NOADDR, 4, 4)); });
  CASE("dataflow_switch_x4", , for (int i = 0; i < 4; i++) { cfg_ex(i & 1, 0, 0, 0); PRELOAD(i & 1 ? BANK : NOADDR, AC_NEW + (u32)i * 16); GEM(F_COMP, loc((u32)i * 16, 16, 16), loc(i & 1 ? NOADDR : BANK + 64, 16, 16)); });
  cfg_ex(1, 0, 0, 0);
  /* array against stores and loads in both halves */
  cfg_ld(64, 0);
  prep(8, 0, NOADDR, BANK, AC_SUM + 256, 16, 0, 16, 16, 16);
  CASE("ws_sum_mvout_same_half", , { go_pair(ptab, 4); MVOUT(out, AC_NEW, 16, 16); go_pair(ptab + 4, 4); MVOUT(out + 1024, AC_NEW + 16, 16, 16); });
  CASE("ws_mvout32_same_half", , { go_pair(ptab, 4); MVOUT(out, AC_WIDE, 16, 16); go_pair(ptab + 4, 4); MVOUT(out + 1024, AC_WIDE + 16, 16, 16); });
  CASE("ws_mvout_of_result_x4", , for (int i = 0; i < 4; i++) { PRELOAD(BANK, AC_NEW + (u32)i * 16); COMP((u32)i * 16); MVOUT(out + i * 1024, AC_NEW + (u32)i * 16, 16, 16); });
  CASE("ws_m4_mvout_of_result_x6", , for (int i = 0; i < 6; i++) { PRELOAD_R(BANK, AC_NEW + (u32)i * 16, 4); COMP_R((u32)i * 16, 4); MVOUT(out + i * 1024, AC_NEW + (u32)i * 16, 16, 4); });
}
