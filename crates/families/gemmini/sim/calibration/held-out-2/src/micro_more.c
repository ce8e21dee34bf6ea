/* Small cases: cold code, few commands, fences in loops, moves beside each other in other pitches, arithmetic between. */
#include "tables.h"
static u8 A[128 * 1024] ALIGNED(4096), B[64 * 1024] ALIGNED(4096), C[128 * 1024] ALIGNED(4096);
static volatile u64 sink;
#define R2(x) x x
#define R8(x) R2(R2(R2(x)))
#define R64(x) R8(R8(x))
static NOINLINE void evict_code(void) { __asm__ volatile(".option push\n.option norvc\n.rept 5000\naddi x0, x0, 0\n.endr\n.option pop"); }
static NOINLINE void evict_data(void) { touch(C + 65536, 32768); }
static NOINLINE void straight(int n) { for (int i = 0; i < 1; i++) { (void)n;
#define S1(q) MVIN(A + (q) * 1024, (q) * 64, 64, 16); PRELOAD((q) * 64, AC_NEW + (q) * 16); COMP((q) * 64 + 16); MVOUT(C + (q) * 256, AC_NEW + (q) * 16, 16, 16);
  S1(0) S1(1) S1(2) S1(3) S1(4) S1(5) S1(6) S1(7) S1(8) S1(9) S1(10) S1(11) S1(12) S1(13) S1(14) S1(15) } }
static NOINLINE void looped(int n) { KEEP_LOOP for (int q = 0; q < n; q++) { MVIN(A + q * 1024, (u32)q * 64, 64, 16); PRELOAD((u32)q * 64, AC_NEW + (u32)q * 16); COMP((u32)q * 64 + 16); MVOUT(C + q * 256, AC_NEW + (u32)q * 16, 16, 16); } }
static u64 div_between(int n, u64 d) { u64 s = 77; KEEP_LOOP for (int q = 0; q < n; q++) { s = s * 31 + (u64)q; MVIN(A + s % d * 64, (u32)(s / d % 16) * 64, 16, 16); } return s; }
static u64 fdiv_between(int n, double d) { double s = 77; KEEP_LOOP for (int q = 0; q < n; q++) { s = s / d + 1.5; MVIN(A + (u64)s * 64, (u32)(q & 15) * 64, 16, 16); } return (u64)s; }
static NOINLINE void set_words(u8 *p, u64 n, u64 v) { volatile u64 *w = (u64 *)p; KEEP_LOOP for (u64 i = 0; i < n / 8; i++) w[i] = v; }
static NOINLINE void set_bytes(u8 *p, u64 n, u8 v) { volatile u8 *w = p; KEEP_LOOP for (u64 i = 0; i < n; i++) w[i] = v; }
static NOINLINE u64 added(const u8 *p, u64 n) { u64 s = 0; const volatile u64 *w = (const u64 *)p; KEEP_LOOP for (u64 i = 0; i < n / 8; i++) s += w[i]; return s; }
static NOINLINE void strides(int n, u64 x, u64 y, u64 z) {
  cfg_ld(x, 0); cfg_ld(y, 1); cfg_ld(z, 2);
  KEEP_LOOP for (int i = 0; i < n; i++) { MVIN(A + i * 64, (u32)(i & 7) * 64, 64, 16); MVIN2(A + 32768 + i * 16, BANK + (u32)(i & 7) * 16, 16, 16); MVIN3(B + i * 32, 2 * BANK + (u32)(i & 7) * 32, 32, 16); }
}
static void plain(void) { cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2); cfg_st(16, 0, 0); }
static void run(void) {
  touch(A, sizeof A); touch(B, sizeof B); touch(C, sizeof C); plain();
#define FORI(n, code) KEEP_LOOP for (int i = 0; i < (n); i++) { code; }
  CASE("straight_16", , straight(1)); CASE("straight_16_cold_code", evict_code(), straight(1)); CASE("looped_16", , looped(16)); CASE("looped_16_cold_code", evict_code(), looped(16));
  CASE("looped_16_cold_both", (evict_code(), evict_data()), looped(16)); CASE("looped_1", , looped(1)); CASE("looped_2", , looped(2)); CASE("looped_3_cold_code", evict_code(), looped(3));
  CASE("div_between_x24", , sink = div_between(24, 13)); CASE("div_between_large_x24", , sink = div_between(24, 100003 % 509)); CASE("fdiv_between_x24", , sink = fdiv_between(24, 1.25));
  CASE("fence_each_mvin_x12", , FORI(12, MVIN(A + i * 1024, (u32)i * 64, 64, 16); FENCE()));
  CASE("fence_each_pair_x12", , FORI(12, PRELOAD(0, AC_NEW + (u32)i * 16); COMP(64); FENCE()));
  CASE("fence_each_mvout_x12", , FORI(12, MVOUT(C + i * 256, AC_NEW + (u32)i * 16, 16, 16); FENCE()));
  CASE("fence_each_cfg_x12", , FORI(12, cfg_ld(64, 0); FENCE()));
  CASE("write_then_mvin_x8", , FORI(8, set_words(B + i * 1024, 1024, (u64)i); MVIN(B + i * 1024, (u32)i * 64, 64, 16)));
  CASE("write_bytes_then_mvin_x6", , FORI(6, set_bytes(B + i * 256, 256, (u8)i); MVIN2(B + i * 256, (u32)i * 64, 16, 4)));
  CASE("write_one_line_then_mvin_x8", , FORI(8, *(volatile u64 *)(B + i * 64) = (u64)i; MVIN(B, (u32)i * 64, 64, 16)));
  CASE("mvout_then_read_x6", , FORI(6, MVOUT(C + i * 256, AC_NEW + (u32)i * 16, 16, 16); FENCE(); sink = added(C + i * 256, 256)));
  CASE("read_before_mvin_x6", , FORI(6, sink = added(A + i * 1024, 1024); MVIN(A + i * 1024, (u32)i * 64, 64, 16)));
  CASE("write_beside_mvin_x8", , FORI(8, MVIN(A + i * 1024, (u32)i * 64, 64, 16); set_words(B + i * 256, 256, 3)));
  CASE("write_beside_mvout_x8", , FORI(8, MVOUT(C + i * 256, AC_NEW + (u32)i * 16, 16, 16); set_words(B + i * 256, 256, 3)));
  CASE("write_cold_beside_mvin_x8", evict_data(), FORI(8, MVIN(A + i * 1024, (u32)i * 64, 64, 16); set_words(B + i * 1024, 256, 3)));
  CASE("strides_64_64_64", , strides(12, 64, 64, 64)); CASE("strides_1024_64_256", , strides(12, 1024, 64, 256)); CASE("strides_2048_2048_2048", , strides(12, 2048, 2048, 2048));
  CASE("strides_80_144_272", , strides(12, 80, 144, 272)); CASE("strides_0_16_0", , strides(12, 0, 16, 0)); CASE("strides_100_36_52", , strides(12, 100, 36, 52)); CASE("strides_4096_16_4096", , strides(8, 4096, 16, 2048));
  plain();
  cfg_ld(4096, 0); CASE("mvin_4096_w64_x6", , FORI(6, MVIN(A + i * 64, (u32)i * 64, 64, 16)));
  cfg_ld(64, 0); CASE("mvin_page_cross", , FORI(8, MVIN(A + 4096 * i + 4096 - 40 * 16 + 8, (u32)i * 64, 64, 16)));
  cfg_ld(1000, 0); CASE("mvin_p1000_w48", , FORI(6, MVIN(A + i * 50, (u32)i * 64, 48, 16)));
  cfg_ld(17, 0); CASE("mvin_p17_w17", , FORI(8, MVIN(A + i * 272, (u32)i * 64, 17, 16)));
  cfg_ld(31, 0); CASE("mvin_p31_w31_r9", , FORI(8, MVIN(A + i * 279, (u32)i * 64, 31, 9)));
  cfg_st(4096, 0, 0); CASE("mvout_4096_x6", , FORI(6, MVOUT(C + i * 16, AC_NEW + (u32)i * 16, 16, 16))); CASE("mvout_4096_w64_x6", , FORI(6, MVOUT(C + i * 64, AC_NEW + (u32)i * 64, 64, 16)));
  cfg_st(100, 0, 0); CASE("mvout_p100_w16_x8", , FORI(8, MVOUT(C + i * 1600, AC_NEW + (u32)i * 16, 16, 16)));
  cfg_st(36, 0, 0); CASE("mvout_p36_w36_x8", , FORI(8, MVOUT(C + i * 576, AC_NEW + (u32)i * 64, 36, 16)));
  cfg_st(10, 0, 0); CASE("mvout_p10_w10_x8", , FORI(8, MVOUT(C + i * 160, AC_NEW + (u32)i * 16, 10, 16)));
  cfg_st(50, 1, -1); CASE("mvout_p50_w16_relu_x8", , FORI(8, MVOUT(C + i * 800 + 2, AC_NEW + (u32)i * 16, 16, 16)));
  cfg_st(256, 0, 0); CASE("mvout_full_p256_x8", , FORI(8, MVOUT(C + i * 64, AC_WIDE + (u32)i * 16, 16, 16))); cfg_st(72, 0, 0); CASE("mvout_full_p72_x8", , FORI(8, MVOUT(C + i * 1152, AC_WIDE + (u32)i * 16, 16, 16)));
  plain();
  cfg_st(64, 0, 0); CASE("spad_copy_x12", , FORI(12, MVIN(A + i * 1024, (u32)(i & 3) * 64, 64, 16); MVOUT(C + i * 1024, (u32)(i & 3) * 64, 16, 16)));
  CASE("acc_copy_x12", , FORI(12, MVIN2(A + i * 256, AC_NEW + (u32)(i & 3) * 16, 4, 16); MVOUT(C + i * 1024, AC_NEW + (u32)(i & 3) * 16, 16, 16)));
  CASE("same_rows_loads_x12", , FORI(12, MVIN(A + i * 1024, 0, 64, 16))); CASE("same_rows_pairs_x12", , FORI(12, MVIN(A + i * 1024, 0, 64, 16); PRELOAD(BANK, AC_NEW + (u32)i * 16); COMP(0)));
  CASE("os_ws_os_x6", , FORI(6, cfg_ex(0, 0, 0, 0); PRELOAD(NOADDR, AC_NEW + (u32)i * 16); GEM(F_COMP, loc(0, 16, 16), loc(BANK, 16, 16)); cfg_ex(1, 0, 0, 0); PRELOAD(BANK, AC_NEW + 256 + (u32)i * 16); COMP(0)));
  plain();
  CASE("chain_spad_x8", , FORI(8, PRELOAD(BANK, 2 * BANK + (u32)i * 16); COMP(i ? 2 * BANK + (u32)i * 16 - 16 : 0))); CASE("chain_acc_out_in_x4", , FORI(4, PRELOAD(BANK, AC_NEW); COMP(0); MVOUT(C, AC_NEW, 16, 16); FENCE(); MVIN(C, 0, 16, 16)));
}
