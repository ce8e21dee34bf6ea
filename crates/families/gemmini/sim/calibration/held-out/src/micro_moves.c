/* Moves with other widths, rows, pitches and places. */
#include "tables.h"
static u8 A[128 * 1024] ALIGNED(4096), C[128 * 1024] ALIGNED(4096);
static void in(u32 w, u32 r, u32 s, u32 off, int n) { cfg_ld(s, 0); fill_tiles(A + off, n, w, r, s, 0, 64, 1024); CASE(label("in", "w", w, "r", r, "s", s), , go_mvin(tab, n)); }
static void out(const char *what, u32 row, u32 w, u32 r, u32 s, u32 off, int n) { cfg_st(s, 0, 0); fill_tiles(C + off, n, w, r, s, row, 64, 512); CASE(label(what, "w", w, "r", r, "s", s), , go_mvout(tab, n)); }
static NOINLINE void reads(const u64 *p, int n) { u64 s = 0; KEEP_LOOP for (int i = 0; i < n; i++) s += ((volatile const u64 *)p)[i * 8]; *(volatile u64 *)C = s; }
static NOINLINE void writes(u64 *p, int n) { KEEP_LOOP for (int i = 0; i < n; i++) p[i * 8] = (u64)i; }
static void run(void) {
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_st(64, 0, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int b = 0; b < 4; b++) for (int i = 0; i < 16; i++) MVIN(A + i * 64, (u32)b * BANK + (u32)i * 64, 64, 16);
  FENCE(); touch(A, 131072);
  in(64, 16, 192, 0, 12); in(64, 9, 64, 0, 12); in(32, 16, 32, 0, 12); in(32, 13, 160, 16, 12); in(48, 16, 96, 0, 12);
  in(20, 16, 80, 0, 12); in(60, 11, 60, 4, 12); in(16, 16, 16, 0, 16); in(16, 2, 1024, 0, 16); in(4, 16, 4, 0, 12);
  in(16, 16, 48, 8, 12); in(64, 16, 1000, 0, 8); in(33, 7, 131, 5, 12); in(1, 16, 512, 0, 8); in(64, 3, 4096, 0, 8);
  out("from_acc", AC_NEW, 16, 16, 32, 0, 8); out("from_acc", AC_NEW, 16, 5, 256, 0, 8); out("from_acc", AC_NEW, 64, 8, 64, 0, 6);
  out("from_acc", AC_NEW, 32, 16, 96, 0, 6); out("from_acc", AC_NEW, 48, 11, 192, 0, 6); out("from_acc", AC_NEW, 24, 16, 24, 0, 6);
  out("from_acc", AC_NEW, 10, 10, 100, 6, 8); out("from_acc", AC_NEW, 64, 16, 160, 32, 6); out("from_acc", AC_NEW, 1, 16, 1, 0, 8);
  out("from_spad", BANK, 16, 16, 32, 0, 8); out("from_spad", BANK, 16, 3, 64, 0, 8); out("from_spad", BANK, 9, 14, 20, 3, 8); out("from_spad", BANK, 16, 16, 1024, 8, 8);
  out("full", AC_WIDE, 16, 16, 128, 0, 4); out("full", AC_WIDE, 8, 16, 64, 0, 6); out("full", AC_WIDE, 16, 6, 80, 0, 6); out("full", AC_WIDE, 5, 9, 44, 4, 6);
  /* three channels with their own pitches */
  cfg_ld(64, 0); cfg_ld(128, 1); cfg_ld(256, 2);
  CASE("three_channels_x12", , for (int i = 0; i < 4; i++) { MVIN(A + i * 1024, (u32)i * 64, 64, 16); MVIN2(A + 8192 + i * 64, BANK + (u32)i * 64, 32, 16); MVIN3(A + 16384 + i * 64, AC_NEW + (u32)i * 16, 16, 16); });
  cfg_st(64, 0, 0); cfg_ld(64, 0);
  fill_tiles(A, 12, 64, 16, 64, 0, 64, 1024);
  CASE("in_after_reads_x12", reads((u64 *)A, 192), go_mvin(tab, 12));
  CASE("in_after_writes_x12", writes((u64 *)A, 192), go_mvin(tab, 12));
  CASE("in_half_dirty_x12", (reads((u64 *)A, 192), writes((u64 *)A, 96)), go_mvin(tab, 12));
  fill_tiles(A, 12, 16, 16, 64, 0, 16, 512);
  CASE("in_narrow_after_writes_x12", writes((u64 *)A, 48), go_mvin(tab, 12));
  fill_tiles(C, 8, 64, 16, 64, AC_NEW, 64, 512);
  CASE("out_after_writes_x8", writes((u64 *)C, 128), go_mvout(tab, 8));
  CASE("out_after_reads_x8", reads((u64 *)C, 128), go_mvout(tab, 8));
  fill_tiles(C, 8, 16, 16, 16, AC_NEW, 16, 512);
  CASE("out_narrow_after_writes_x8", writes((u64 *)C, 32), go_mvout(tab, 8));
  u8 *p;
#define EACH_COLD(name, bytes, n, w, r, s, f, row, step) CASE(name, (p = cold(bytes), fill_tiles(p, n, w, r, s, row, step, 512)), f(tab, n))
  EACH_COLD("cold_in_w64_r16_s64_x8", 8192, 8, 64, 16, 64, go_mvin, 0, 64);
  EACH_COLD("cold_in_w16_r16_s64_x8", 4096, 8, 16, 16, 64, go_mvin, 0, 16);
  EACH_COLD("cold_in_w32_r8_s128_x8", 8192, 8, 32, 8, 128, go_mvin, 0, 64);
  EACH_COLD("cold_in_w64_r16_s512_x8", 65536, 8, 64, 16, 512, go_mvin, 0, 64);
  cfg_ld(512, 0);
  EACH_COLD("cold_in_w16_r16_pitch512_x8", 16384, 8, 16, 16, 512, go_mvin, 0, 16);
  EACH_COLD("cold_out_w64_r16_s64_x6", 8192, 6, 64, 16, 64, go_mvout, AC_NEW, 64);
  EACH_COLD("cold_out_w32_r16_s64_x6", 8192, 6, 32, 16, 64, go_mvout, AC_NEW, 64);
  EACH_COLD("cold_out_spad_w16_r16_s64_x6", 8192, 6, 16, 16, 64, go_mvout, 0, 16);
}
