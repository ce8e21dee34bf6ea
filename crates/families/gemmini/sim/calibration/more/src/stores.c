/* Stores: pooling, widths, rows, pitches. */
#include "tables.h"
static u8 out[512 * 1024] ALIGNED(4096);
static inline __attribute__((always_inline)) void
cfg_pool(u64 stride, int act, int e, u64 size, u64 step, u64 odim, u64 por, u64 poc, u64 orr, u64 oc, u64 up, u64 lp) {
  GEM(F_CONFIG, (oc << 56) | (orr << 48) | (poc << 40) | (por << 32) | (odim << 24) | (lp << 10) | (up << 8) | (size << 6) | (step << 4) | ((u64)act << 2) | 2,
      (P2F(e) << 32) | stride);
}
static void run(void) {
  cfg_ex(1, 0, 0, 0);
  cfg_ld(64, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int i = 0; i < 16; i++) MVIN(0, (u32)i * 64, 64, 16);
  FENCE();
  /* pooled stores */
  cfg_pool(16, 0, 0, 2, 2, 4, 4, 4, 8, 8, 0, 0);
  CASE("pool2s2_4x4_w16", , MVOUT(out, AC_NEW, 16, 0));
  cfg_pool(64, 0, 0, 2, 2, 4, 4, 4, 8, 8, 0, 0);
  CASE("pool2s2_4x4_w16_s64", , MVOUT(out, AC_NEW, 16, 0));
  CASE("pool2s2_4x4_w16_s64_n4", , { for (int i = 0; i < 4; i++) MVOUT(out + i * 16, AC_NEW + (u32)i * 64, 16, 0); });
  CASE("pool2s2_4x4_w4_s64", , MVOUT(out, AC_NEW, 4, 0));
  cfg_pool(64, 0, 0, 3, 2, 4, 4, 4, 9, 9, 0, 0);
  CASE("pool3s2_4x4_w16", , MVOUT(out, AC_NEW, 16, 0));
  cfg_pool(64, 0, 0, 3, 2, 4, 4, 4, 8, 8, 1, 1);
  CASE("pool3s2_4x4_pad_w16", , MVOUT(out, AC_NEW, 16, 0));
  cfg_pool(64, 1, -3, 3, 1, 6, 6, 6, 8, 8, 0, 0);
  CASE("pool3s1_6x6_relu_scale", , MVOUT(out, AC_NEW, 16, 0));
  cfg_pool(64, 0, 0, 2, 1, 3, 3, 3, 4, 4, 0, 0);
  CASE("pool2s1_3x3", , MVOUT(out, AC_NEW, 16, 0));
  CASE("pool2s1_3x3_n8", , { for (int i = 0; i < 8; i++) MVOUT(out + i * 1024, AC_NEW + (u32)i * 16, 16, 0); });
  cfg_pool(64, 0, 0, 2, 2, 8, 1, 8, 2, 16, 0, 0);
  CASE("pool2s2_1x8_n4", , { for (int i = 0; i < 4; i++) MVOUT(out + i * 1024, AC_NEW + (u32)i * 32, 16, 0); });
  cfg_pool(64, 0, 0, 1, 1, 4, 4, 4, 4, 4, 0, 0);
  CASE("pool1s1_4x4_n4", , { for (int i = 0; i < 4; i++) MVOUT(out + i * 1024, AC_NEW + (u32)i * 16, 16, 0); });
  cfg_pool(64, 0, 0, 2, 2, 4, 4, 4, 8, 8, 0, 0);
  CASE("pool_spad_4x4_n2", , { for (int i = 0; i < 2; i++) MVOUT(out + i * 1024, (u32)i * 64, 16, 0); });
  CASE("pool_then_plain", , { cfg_pool(64, 0, 0, 2, 2, 4, 4, 4, 8, 8, 0, 0); MVOUT(out, AC_NEW, 16, 0); cfg_st(64, 0, 0); MVOUT(out + 4096, AC_NEW + 64, 16, 16); });
  /* pool while the array works */
  fill_pairs(8, 0, BANK, AC_NEW + 512, 16, 16, 16);
  cfg_pool(64, 0, 0, 3, 2, 4, 4, 4, 9, 9, 0, 0);
  CASE("pool_pairs_otherhalf", , { MVOUT(out, AC_NEW, 16, 0); go_pair(ptab, 8); });
  fill_pairs(8, 0, BANK, AC_NEW + 256, 16, 16, 16);
  CASE("pool_pairs_samehalf", , { MVOUT(out, AC_NEW, 16, 0); go_pair(ptab, 8); });
  /* 8 bit, rows and pitches */
  { static const struct { short w, r, s; } g[] = {
      {16,2,64},{16,3,64},{16,5,64},{16,7,80},{16,9,48},{16,11,33},{16,13,100},{16,15,17},{8,16,64},{4,16,64},{1,16,64},{12,16,64},
      {8,16,8},{12,16,12},{24,16,64},{40,16,64},{56,16,64},{63,16,64},{33,7,64},{48,5,48},{64,2,64},{64,3,96},{64,7,80},{64,16,72},{32,16,48},{16,16,24},{16,16,40}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      const char *n = label("st8_n4", "w", (u32)g[i].w, "r", (u32)g[i].r, "s", (u32)g[i].s);
      cfg_st((u64)g[i].s, 0, 0);
      for (int k = 0; k < 4; k++) { tab[k].a = (u64)out + (u64)k * 8192; tab[k].b = loc(AC_NEW + (u32)k * 64, (u64)g[i].w, (u64)g[i].r); }
      CASE(n, , go_mvout(tab, 4));
    } }
  /* full width */
  { static const struct { short w, r, s; } g[] = {
      {16,1,64},{16,4,64},{16,7,64},{16,16,80},{16,16,72},{16,16,4096},{8,16,64},{4,16,64},{1,16,64},{12,16,48},{5,9,36}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      const char *n = label("st32_n3", "w", (u32)g[i].w, "r", (u32)g[i].r, "s", (u32)g[i].s);
      cfg_st((u64)g[i].s, 0, 0);
      for (int k = 0; k < 3; k++) { tab[k].a = (u64)out + (u64)k * 65536; tab[k].b = loc(AC_WIDE + (u32)k * 64, (u64)g[i].w, (u64)g[i].r); }
      CASE(n, , go_mvout(tab, 3));
    } }
  /* scratchpad */
  { static const struct { short w, r, s; } g[] = {{16,1,64},{16,3,20},{7,16,64},{16,16,24},{33,16,64},{64,3,64},{48,16,48},{64,16,72}};
    for (unsigned i = 0; i < sizeof g / sizeof g[0]; i++) {
      const char *n = label("stsp_n4", "w", (u32)g[i].w, "r", (u32)g[i].r, "s", (u32)g[i].s);
      cfg_st((u64)g[i].s, 0, 0);
      for (int k = 0; k < 4; k++) { tab[k].a = (u64)out + (u64)k * 8192; tab[k].b = loc((u32)k * 64, (u64)g[i].w, (u64)g[i].r); }
      CASE(n, , go_mvout(tab, 4));
    } }
  /* mixtures of one kind after another */
  cfg_st(64, 0, 0);
  CASE("st_mix_8_32_spad", , for (int i = 0; i < 3; i++) { MVOUT(out + i * 4096, AC_NEW + (u32)i * 16, 16, 16); MVOUT(out + i * 4096 + 1024, AC_WIDE + (u32)i * 16, 16, 16); MVOUT(out + i * 4096 + 2048, (u32)i * 16, 16, 16); });
  CASE("st_act_changes", , for (int i = 0; i < 4; i++) { cfg_st(64, i & 1, -i); MVOUT(out + i * 4096, AC_NEW + (u32)i * 16, 16, 16); });
  CASE("st_two_to_one_line", , { MVOUT(out, AC_NEW, 16, 16); MVOUT(out + 16, AC_NEW + 16, 16, 16); MVOUT(out + 32, AC_NEW + 32, 16, 16); MVOUT(out + 48, AC_NEW + 48, 16, 16); });
  CASE("st_same_line_again", , { for (int i = 0; i < 6; i++) MVOUT(out, AC_NEW, 16, 1); });
  CASE("st_cold_w16_r16_n4_s4096", u8 *p_ = cold(262144); cfg_st(4096, 0, 0); for (int k = 0; k < 4; k++) { tab[k].a = (u64)p_ + (u64)k * 16; tab[k].b = loc(AC_NEW + (u32)k * 16, 16, 16); }, go_mvout(tab, 4));
  CASE("st_cold32_n4_s64", u8 *p_ = cold(4096); cfg_st(64, 0, 0); for (int k = 0; k < 4; k++) { tab[k].a = (u64)p_ + (u64)k * 1024; tab[k].b = loc(AC_WIDE + (u32)k * 16, 16, 16); }, go_mvout(tab, 4));
}
