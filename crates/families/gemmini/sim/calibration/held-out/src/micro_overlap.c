/* Units beside each other: which rows, which banks, which order. */
#include "tables.h"
static u8 A[64 * 1024] ALIGNED(4096), C[64 * 1024] ALIGNED(4096);
#define ST(i, r, w) MVOUT(C + (i) * 1024, (r), (w), 16)
static void run(void) {
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2); cfg_st(64, 0, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int b = 0; b < 4; b++) for (int i = 0; i < 16; i++) MVIN(A + i * 64, (u32)b * BANK + (u32)i * 64, 64, 16);
  FENCE(); touch(A, 65536);
#define FORI(n, ...) for (u32 i = 0; i < n; i++) { __VA_ARGS__ }
#define PLAIN(name, n, ...) CASE(name, , FORI(n, __VA_ARGS__));
  PLAIN("ld1_st1_x8", 8, MVIN(A + i * 1024, i * 64, 64, 16); ST(i, AC_NEW + i * 64, 16);)
  PLAIN("ld1_st_wide_x8", 8, MVIN(A + i * 1024, i * 64, 64, 16); ST(i, AC_NEW + i * 64, 64);)
  PLAIN("ld2_st1_x6", 6, MVIN(A + i * 1024, i * 64, 64, 16); MVIN2(A + 8192 + i * 1024, BANK + i * 64, 64, 16); ST(i, AC_NEW + i * 64, 32);)
  PLAIN("ld_narrow_st_spad_x12", 12, MVIN(A + i * 1024, i * 16, 16, 16); ST(i, 2 * BANK + i * 16, 16);)
  PLAIN("pair2_st1_x8", 8, PRELOAD(BANK + i * 16, AC_NEW + i * 32); COMP(i * 16); PRELOAD(BANK + i * 16, AC_NEW + i * 32 + 16); COMP(i * 16); ST(i, AC_NEW + i * 32, 32);)
  PLAIN("pair4_st1_half_x6", 6, for (u32 j = 0; j < 4; j++) { PRELOAD(BANK + j * 16, AC_NEW + (i & 1) * 512 + j * 16); COMP(i * 16); } ST(i, AC_NEW + (i & 1) * 512, 64);)
  PLAIN("pair1_st_other_half_x8", 8, PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16); ST(i, AC_NEW + 512 + i * 16, 16);)
  PLAIN("pair1_st_same_half_x8", 8, PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16); ST(i, AC_NEW + 256 + i * 16, 16);)
  PLAIN("ldacc_pair_x8", 8, MVIN(A + i * 1024, AC_NEW + 512 + i * 16, 16, 16); PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16);)
  PLAIN("ldacc_pair_same_half_x8", 8, MVIN(A + i * 1024, AC_NEW + 256 + i * 16, 16, 16); PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16);)
  PLAIN("ldacc_st_x8", 8, MVIN(A + i * 1024, AC_NEW + i * 16, 16, 16); ST(i, AC_NEW + i * 16, 16);)
  PLAIN("ld_pair_dep_x10", 10, MVIN(A + i * 1024, i * 16, 16, 16); PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16);)
  PLAIN("ld_pair_st_dep_x8", 8, MVIN(A + i * 1024, i * 16, 16, 16); PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16); ST(i, AC_NEW + i * 16, 16);)
  PLAIN("ld_pair_st_one_slot_x5", 5, MVIN(A + i * 1024, 0, 16, 16); PRELOAD(BANK, AC_NEW); COMP(0); ST(i, AC_NEW, 16);)
  PLAIN("ldB_pair3_x6", 6, MVIN2(A + i * 1024, BANK + (i & 1) * 64, 64, 16); for (u32 j = 0; j < 3; j++) { PRELOAD(BANK + (i & 1) * 64 + j * 16, AC_NEW + j * 16); COMP(j * 16); })
  PLAIN("ld_bank_of_pair_x6", 6, MVIN(A + i * 1024, 512 + i * 64, 64, 16); PRELOAD(BANK, AC_NEW); COMP(i * 16); PRELOAD(BANK + 16, AC_NEW + 16); COMP(i * 16);)
  PLAIN("ld_bank_of_weights_x6", 6, MVIN(A + i * 1024, BANK + 512 + i * 64, 64, 16); PRELOAD(BANK, AC_NEW); COMP(i * 16); PRELOAD(BANK + 16, AC_NEW + 16); COMP(i * 16);)
  PLAIN("st_spad_bank_of_pair_x8", 8, PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16); ST(i, 256 + i * 16, 16);)
  PLAIN("pair_to_spad_then_st_x8", 8, PRELOAD(BANK, 2 * BANK + i * 16); COMP(i * 16); ST(i, 2 * BANK + i * 16, 16);)
  PLAIN("pair_chain_spad_x6", 6, PRELOAD(BANK, 2 * BANK + i * 16 + 16); COMP(2 * BANK + i * 16);)
  PLAIN("pair_sum_chain_x12", 12, PRELOAD(BANK + i * 16, i ? AC_SUM : AC_NEW); COMP(i * 16);)
  PLAIN("hold4_sum_x4", 4, PRELOAD(BANK + i * 16, AC_SUM); COMP(i * 16); for (u32 j = 1; j < 4; j++) { PRELOAD(NOADDR, AC_SUM + j * 16); COMPACC(256 + j * 16); })
  PLAIN("zero_then_pair_x8", 8, MVIN(0, AC_NEW + i * 16, 16, 16); PRELOAD(BANK, AC_SUM + i * 16); COMP(i * 16);)
  PLAIN("bias_row_then_pair_x8", 8, MVIN3(A, AC_NEW + i * 16, 16, 1); PRELOAD_R(BANK, AC_SUM + i * 16, 1); COMP_R(i * 16, 1);)
  PLAIN("short_pairs_st_x10", 10, PRELOAD_R(BANK, AC_NEW + i * 16, 4); COMP_R(i * 16, 4); MVOUT(C + i * 1024, AC_NEW + i * 16, 16, 4);)
  PLAIN("cfg_ld_between_x10", 10, cfg_ld(64 + (i & 1) * 64, 0); MVIN(A + i * 1024, i * 64, 64, 16);)
  PLAIN("cfg_st_between_x8", 8, cfg_st(64 + (i & 1) * 64, 0, 0); ST(i, AC_NEW + i * 64, 16);)
  PLAIN("cfg_ex_every_third_x6", 6, cfg_ex(1, 0, 0, 0); for (u32 j = 0; j < 3; j++) { PRELOAD(BANK + j * 16, AC_NEW + j * 16); COMP(j * 16); })
  PLAIN("fence_every_load_x6", 6, MVIN(A + i * 1024, i * 64, 64, 16); FENCE();)
  PLAIN("fence_every_pair_x6", 6, PRELOAD(BANK, AC_NEW + i * 16); COMP(i * 16); FENCE();)
  PLAIN("fence_every_store_x6", 6, ST(i, AC_NEW + i * 16, 16); FENCE();)
  cfg_ld(64, 0); cfg_st(64, 0, 0);
  PLAIN("st_read_back_x4", 4, ST(i, AC_NEW + i * 16, 16); FENCE(); MVIN(C + i * 1024, i * 64, 16, 16); FENCE();)
  CASE("loads_then_stores_10_10", , { FORI(10, MVIN(A + i * 1024, i * 64, 64, 16);) FORI(10, ST(i, AC_NEW + i * 64, 32);) });
  CASE("stores_then_loads_10_10", , { FORI(10, ST(i, AC_NEW + i * 64, 32);) FORI(10, MVIN(A + i * 1024, i * 64, 64, 16);) });
  CASE("pairs_then_stores_24_6", , { FORI(24, PRELOAD(BANK + i * 16, AC_NEW + i * 16); COMP(i * 16);) FORI(6, ST(i, AC_NEW + i * 64, 64);) });
  CASE("stores_pairs_loads_6_12_8", , { FORI(6, ST(i, AC_NEW + i * 64, 64);) FORI(12, PRELOAD(BANK + i * 16, AC_NEW + 512 + i * 16); COMP(i * 16);) FORI(8, MVIN(A + i * 1024, 2 * BANK + i * 64, 64, 16);) });
  cfg_ex(1, 1, 0, 0);
  PLAIN("relu_pairs_spad_x10", 10, PRELOAD(BANK, 2 * BANK + i * 16); COMP(i * 16);)
}
