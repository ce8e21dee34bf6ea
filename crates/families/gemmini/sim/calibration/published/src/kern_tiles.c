/* Two hand-written schedules of 12544x256x64, one 16x64 tile of C at a time, that
   start from zeros moved in: B is moved in for every tile, or only once. */
#include "cal.h"

enum { M = 12544, N = 256, D = 64 };
static i8 mA[M * D] ALIGNED(4096), mB[D * N] ALIGNED(4096), mC[M * N] ALIGNED(4096);

static inline __attribute__((always_inline)) void product(int keep) {
  cfg_ex(1, 0, 0, 0);
  cfg_st(N, 0, 0);
  cfg_ld(0, 0);
  cfg_ld(D, 1);
  cfg_ld(N, 2);
  for (int i = 0; i < M / 16; i++)
    for (int j = 0; j < 4; j++) {
      u32 c = keep ? (u32)j * 64 : 0, b = keep ? 12544 + (u32)j * 256 : 1024;
      const i8 *from = mB + j * 64;
      i8 *to = mC + (u64)i * 16 * N + j * 64;
      for (u32 t = 0; t < 4; t++) MVIN(0, AC_NEW + c + t * 16, 16, 16);
      if (!keep || j == 0) MVIN2(mA + (u64)i * 16 * D, 0, 64, 16);
      if (!keep || i == 0)
        for (u32 k = 0; k < 4; k++) MVIN3(from + k * 16 * N, b + k * 64, 64, 16);
      for (u32 k = 0; k < 4; k++)
        for (u32 t = 0; t < 4; t++) {
          PRELOAD(b + k * 64 + t * 16, AC_SUM + c + t * 16);
          COMP(k * 16);
        }
      for (u32 t = 0; t < 4; t++) MVOUT(to + t * 16, AC_NEW + c + t * 16, 16, 16);
    }
}
static NOINLINE void b_moved(void) { product(0); }
static NOINLINE void b_kept(void) { product(1); }

static void run(void) {
  CASE("b_moved_12544x256x64", , b_moved());
  CASE("b_kept_12544x256x64", , b_kept());
}
