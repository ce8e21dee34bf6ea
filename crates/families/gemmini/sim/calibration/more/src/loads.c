/* Loads: scaling, narrow accumulation, repeated rows and pixels, odd shapes, cold lines. */
#include "tables.h"
static u8 buf[512 * 1024] ALIGNED(4096);
static inline __attribute__((always_inline)) void
cfg_ldx(u64 stride, int chan, int narrow, u64 blk, u64 pix, int e) {
  GEM(F_CONFIG, (P2F(e) << 32) | (blk << 16) | (pix << 8) | ((u64)chan << 3) | ((u64)narrow << 2) | 1, stride);
}
static void tile(int n, u32 base, u32 step, u32 w, u32 r, u64 pitch) {
  for (int k = 0; k < n; k++) { tab[k].a = (u64)buf + (u64)k * pitch; tab[k].b = loc(base + (u32)k * step, w, r); }
}
static void run(void) {
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_st(64, 0, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int i = 0; i < 16; i++) MVIN(0, (u32)i * 64, 64, 16);
  touch(buf, 65536);
  FENCE();
  /* scaled into the accumulator, narrow */
  { static const struct { short w, r, s, n; } g[] = {{16,16,16,1},{16,16,16,8},{16,16,64,7},{32,16,32,6},{64,16,64,1},{64,16,64,4},{16,1,64,8},{64,1,64,8},{5,7,64,6},{48,16,48,4}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      cfg_ldx((u64)g[i].s, 0, 1, 16, 1, -1);
      tile(g[i].n, AC_NEW, 64, (u32)g[i].w, (u32)g[i].r, 4096);
      const char *n = label("acc8_scaled", "w", (u32)g[i].w, "r", (u32)g[i].r, "n", (u32)g[i].n);
      CASE(n, , go_mvin(tab, g[i].n));
      tile(g[i].n, AC_SUM, 64, (u32)g[i].w, (u32)g[i].r, 4096);
      n = label("acc8_scaled_add", "w", (u32)g[i].w, "r", (u32)g[i].r, "n", (u32)g[i].n);
      CASE(n, , go_mvin(tab, g[i].n));
      cfg_ldx((u64)g[i].s, 0, 1, 16, 1, 0);
      n = label("acc8_unscaled_add", "w", (u32)g[i].w, "r", (u32)g[i].r, "n", (u32)g[i].n);
      CASE(n, , go_mvin(tab, g[i].n));
    } }
  /* resadd: overwrite then add */
  cfg_ldx(64, 0, 1, 16, 1, 0); cfg_ldx(64, 1, 1, 16, 1, -1);
  CASE("resadd_pair_x4", , for (int i = 0; i < 4; i++) { MVIN(buf + i * 4096, AC_NEW + (u32)i * 64, 64, 16); MVIN2(buf + 65536 + i * 4096, AC_SUM + 512 + (u32)i * 64, 64, 16); });
  CASE("resadd_store_x4", , for (int i = 0; i < 4; i++) { MVIN(buf + i * 4096, AC_NEW + (u32)i * 64, 64, 16); MVIN2(buf + 65536 + i * 4096, AC_SUM + 512 + (u32)i * 64, 64, 16); MVOUT(buf + 131072 + i * 1024, AC_NEW + (u32)i * 64, 64, 16); });
  /* scaled into the scratchpad */
  cfg_ldx(64, 0, 0, 16, 1, -1);
  tile(8, 0, 64, 16, 16, 1024);
  CASE("spad_scaled_w16_n8", , go_mvin(tab, 8));
  tile(4, 0, 64, 64, 16, 1024);
  CASE("spad_scaled_w64_n4", , go_mvin(tab, 4));
  tile(1, 0, 64, 64, 16, 1024);
  CASE("spad_scaled_w64_n1", , go_mvin(tab, 1));
  tile(8, 0, 64, 16, 1, 1024);
  CASE("spad_scaled_w16_r1_n8", , go_mvin(tab, 8));
  /* wide scaled into the accumulator */
  cfg_ldx(64, 0, 0, 16, 1, -1);
  tile(6, AC_NEW, 16, 16, 16, 1024);
  CASE("acc32_scaled_n6", , go_mvin(tab, 6));
  /* wide, odd */
  { static const struct { short w, r, s, n; } g[] = {{16,1,64,8},{16,5,64,6},{4,16,64,4},{1,16,64,4},{9,16,64,4},{16,16,68,4},{16,16,0,4},{16,16,4,4}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      cfg_ld((u64)g[i].s, 0);
      tile(g[i].n, AC_NEW, 64, (u32)g[i].w, (u32)g[i].r, 8192);
      const char *n = label("acc32", "w", (u32)g[i].w, "r", (u32)g[i].r, "s", (u32)g[i].s);
      CASE(n, , go_mvin(tab, g[i].n));
    } }
  /* zero stride: one row repeated */
  cfg_ld(0, 0);
  tile(6, 0, 64, 16, 16, 4096); CASE("rep_w16_r16_n6", , go_mvin(tab, 6));
  tile(6, 0, 64, 64, 16, 4096); CASE("rep_w64_r16_n6", , go_mvin(tab, 6));
  tile(6, 0, 64, 16, 3, 4096); CASE("rep_w16_r3_n6", , go_mvin(tab, 6));
  tile(6, 0, 64, 16, 1, 4096); CASE("rep_w16_r1_n6", , go_mvin(tab, 6));
  tile(4, AC_NEW, 64, 16, 16, 4096); CASE("rep_acc32_w16_n4", , go_mvin(tab, 4));
  tile(4, AC_SUM, 64, 16, 16, 4096); CASE("rep_acc32_add_n4", , go_mvin(tab, 4));
  cfg_ldx(0, 0, 1, 16, 1, 0);
  tile(4, AC_NEW, 64, 16, 16, 4096); CASE("rep_acc8_w16_n4", , go_mvin(tab, 4));
  /* pixel repeats (first layers) */
  { static const struct { short w, r, s, p; } g[] = {{5,8,32,3},{3,8,3,3},{8,16,64,2},{4,16,16,4},{3,16,64,5},{4,1,64,4}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      cfg_ldx((u64)g[i].s, 0, 0, 256, (u64)g[i].p, 0);
      tile(4, 64, 64, (u32)g[i].w, (u32)g[i].r, 4096);
      const char *n = label("pixel", "w", (u32)g[i].w, "r", (u32)g[i].r, "p", (u32)g[i].p);
      CASE(n, , go_mvin(tab, 4));
    } }
  /* odd shapes into the scratchpad */
  { static const struct { short w, r, s, n; } g[] = {{1,16,64,6},{3,16,64,6},{7,5,7,6},{13,16,13,6},{16,16,20,6},{16,16,24,6},{17,16,64,6},{20,9,20,6},{31,16,31,4},{33,16,64,4},{40,16,40,4},{47,3,47,6},{56,16,56,4},{63,16,63,4},{64,16,65,4},{64,16,68,4},{64,16,80,4},{64,16,96,4},{64,5,4096,6},{16,16,4096,4},{64,16,4096,4}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      cfg_ld((u64)g[i].s, 0);
      tile(g[i].n, 0, 64, (u32)g[i].w, (u32)g[i].r, 4096);
      const char *n = label("odd", "w", (u32)g[i].w, "r", (u32)g[i].r, "s", (u32)g[i].s);
      CASE(n, , go_mvin(tab, g[i].n));
    } }
  /* block strides and channels */
  cfg_ldx(64, 0, 0, 32, 1, 0);
  tile(4, 0, 256, 64, 16, 1024); CASE("blk32_w64_n4", , go_mvin(tab, 4));
  cfg_ld(64, 0); cfg_ldx(16, 1, 0, 16, 1, 0); cfg_ld(64, 2);
  CASE("mix_spad_acc_zero_x4", , for (int i = 0; i < 4; i++) { MVIN(buf + i * 4096, (u32)i * 64, 64, 16); MVIN2(buf + 65536 + i * 256, BANK + (u32)i * 16, 16, 16); MVIN3(buf + 131072 + i * 1024, AC_NEW + (u32)i * 16, 16, 16); MVIN(0, AC_NEW + 512 + (u32)i * 16, 16, 16); });
  cfg_ld(64, 0); cfg_ldx(64, 1, 1, 16, 1, -1);
  CASE("mix_scaled_plain_x4", , for (int i = 0; i < 4; i++) { MVIN(buf + i * 4096, (u32)i * 64, 64, 16); MVIN2(buf + 65536 + i * 4096, AC_NEW + (u32)i * 64, 64, 16); });
  /* loads into the accumulator while the array writes there */
  fill_pairs(8, 0, BANK, AC_NEW + 512, 16, 16, 16);
  CASE("acc32_pairs_otherhalf", , { for (int i = 0; i < 4; i++) { MVIN(buf + i * 1024, AC_NEW + (u32)i * 16, 16, 16); go_pair(ptab + 2 * i, 2); } });
  fill_pairs(8, 0, BANK, AC_NEW + 256, 16, 16, 16);
  CASE("acc32_pairs_samehalf", , { for (int i = 0; i < 4; i++) { MVIN(buf + i * 1024, AC_NEW + (u32)i * 16, 16, 16); go_pair(ptab + 2 * i, 2); } });
  fill_pairs(8, 0, BANK, AC_SUM + 256, 16, 16, 16);
  CASE("acc32_add_pairs_samehalf", , { for (int i = 0; i < 4; i++) { MVIN(buf + i * 1024, AC_SUM + (u32)i * 16, 16, 16); go_pair(ptab + 2 * i, 2); } });
  CASE("acc8_add_pairs_mvout", , { for (int i = 0; i < 4; i++) { MVIN2(buf + i * 1024, AC_SUM + (u32)i * 64, 64, 16); go_pair(ptab + 2 * i, 2); MVOUT(buf + 131072 + i * 1024, AC_NEW + 448, 16, 16); } });
  cfg_ld(16, 0);
  CASE("cold_w16_s16_n4", fill_tiles(cold(4096), 4, 16, 16, 16, 0, 16, 4096), go_mvin(tab, 4));
  CASE("cold_w16_s16_n16", fill_tiles(cold(4096), 16, 16, 16, 16, 0, 16, 4096), go_mvin(tab, 16));
  cfg_ld(32, 0);
  CASE("cold_w16_s32_n8", fill_tiles(cold(8192), 8, 16, 16, 32, 0, 16, 4096), go_mvin(tab, 8));
  CASE("cold_w32_s32_n8", fill_tiles(cold(8192), 8, 32, 16, 32, 0, 32, 4096), go_mvin(tab, 8));
}
