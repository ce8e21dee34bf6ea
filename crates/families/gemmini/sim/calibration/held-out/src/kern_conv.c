/* Convolutions by the hardware loop, by hand, and over an image that the core unrolls. */
#include "blocks.h"
struct cv { u64 batch, in, ic, oc, od, pod, stride, pad, kd, ps, pst, pp, b, por, poc, pochs, kr, kc, kch, lp, rp, up, dp, plp, orr, prp, pup, pdp, dil, ocl, flags1, nopool, down, indil, act, ppr; };
static NOINLINE void conv(const struct cv *v, const void *w, void *o, const void *bias, const void *in) {
  GEM(F_LCV_1, v->oc << 48 | v->ic << 32 | v->in << 16 | v->batch, v->pad << 48 | v->stride << 32 | v->pod << 16 | v->od);
  GEM(F_LCV_2, v->kd << 48 | v->ps << 32 | v->pst << 16 | v->pp, v->b << 48 | v->por << 32 | v->poc << 16 | v->pochs);
  GEM(F_LCV_3, v->kr << 48 | v->kc << 32 | v->kch << 16 | v->lp, v->rp << 48 | v->up << 32 | v->dp << 16 | v->plp);
  GEM(F_LCV_4, v->orr << 48 | v->prp << 32 | v->pup << 16 | v->pdp, v->dil << 16 | v->ocl);
  GEM(F_LCV_5, w, o); GEM(F_LCV_6, bias, in);
  GEM(F_LCV_RUN, v->ppr << 8 | v->flags1, v->act << 3 | v->indil << 2 | v->down << 1 | v->nopool);
}
static void setup(u64 ic, u64 oc, int act) { cfg_ex(1, act, 0, 0); cfg_st(oc, act, -2); cfg_ld(ic, 0); cfg_ld(oc, 1); cfg_ld(oc * 4, 2); }
/* kd x kd, stride s, no border, R output rows at a time, from an image of `in` columns */
static NOINLINE void lconv(u64 in, u64 ic, u64 oc, u64 kd, u64 s, u64 R, const i32 *bias, int act) {
  const u64 od = (in - kd) / s + 1;
  setup(ic, oc, act);
  for (u64 y = 0; y < od; y += R) {
    const u64 r = y + R > od ? od - y : R;
    struct cv v = {.batch = 1, .in = in, .ic = ic, .oc = oc, .od = od, .pod = od, .stride = s, .kd = kd, .ps = 1, .pst = 1, .b = 1, .por = r, .poc = od, .pochs = oc,
      .kr = kd, .kc = kd, .kch = ic, .orr = r, .ocl = od, .dil = 1, .nopool = 1, .ppr = 1, .flags1 = bias ? 0 : 1, .act = (u64)act};
    conv(&v, B, C + y * od * oc, bias, A + y * s * in * ic);
  }
}
/* 3x3 with a border of one, whole image, pooled 2x2 if asked */
static NOINLINE void lpadded(u64 in, u64 ic, u64 oc, int pool) {
  setup(ic, oc, 1);
  struct cv v = {.batch = 1, .in = in, .ic = ic, .oc = oc, .od = in, .pod = pool ? in / 2 : in, .stride = 1, .pad = 1, .kd = 3, .ps = pool ? 2 : 1, .pst = pool ? 2 : 1, .b = 1,
    .por = pool ? in / 2 : in, .poc = pool ? in / 2 : in, .pochs = oc, .kr = 3, .kc = 3, .kch = ic, .lp = 1, .rp = 1, .up = 1, .dp = 1, .orr = in, .ocl = in, .dil = 1, .nopool = !pool, .ppr = 1, .act = 1};
  conv(&v, B, C, D, A);
}
static NOINLINE void ldepthwise(u64 in, u64 ch) {
  cfg_ex(1, 0, 0, 0); cfg_st(ch, 0, -1); cfg_ld(ch, 0); cfg_ld(ch, 1); cfg_ld(4 * ch, 2);
  for (u64 c = 0; c < ch; c++) {
    struct cv v = {.batch = 1, .in = in, .ic = ch, .oc = ch, .od = in - 2, .pod = in - 2, .stride = 1, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = in - 2, .poc = in - 2, .pochs = 1,
      .kr = 3, .kc = 3, .kch = 1, .orr = in - 2, .ocl = in - 2, .dil = 1, .nopool = 1, .ppr = 1, .flags1 = 64};
    conv(&v, B + c * 9, C + c, D + c, A + c);
  }
}
/* the core writes one row of the unrolled image per output position, then a product */
static NOINLINE void unroll_image(int in, int ic, int kd) {
  const int od = in - kd + 1; u64 *o = (u64 *)E;
  for (int y = 0; y < od; y++) for (int x = 0; x < od; x++) for (int p = 0; p < kd; p++) {
    const u64 *q = (const u64 *)(A + ((y + p) * in + x) * ic);
    KEEP_LOOP for (int t = 0; t < kd * ic / 8; t++) *o++ = q[t];
  }
}
static NOINLINE void image_product(int M, int N, int K) { blocks(E, B, C, D, M, N, K, 2, 2, 3, TWO, 0, -2); }
/* 1x1 with stride 2 by pitches, weights kept */
static NOINLINE void pointwise(int in, int ic, int oc, int s) {
  const int od = in / s;
  cfg_ex(1, 0, 0, 0); cfg_st((u64)oc, 1, -2); cfg_ld((u64)(ic * s), 0); cfg_ld((u64)oc, 1);
  for (int k = 0; k < ic / 16; k++) for (int j = 0; j < oc / 64; j++) MVIN2(B + k * 16 * oc + j * 64, 2 * BANK + (u32)(k * oc + j * 64), 64, 16);
  for (int y = 0; y < od; y++) {
    const u32 a = (u32)(y & 1) * 512, c = (u32)(y & 1) * 512;
    for (int k = 0; k < ic; k += 64) MVIN(A + y * s * in * ic + k, a + (u32)k, (u64)least(64, ic - k), (u64)od);
    for (int j = 0; j < oc / 16; j++) {
      for (int k = 0; k < ic / 16; k++) { PRELOAD_R(2 * BANK + (u32)(k * oc + j * 16), (k ? AC_SUM : AC_NEW) + c + (u32)j * 16, (u64)od); COMP_R(a + (u32)k * 16, (u64)od); }
      MVOUT(C + y * od * oc + j * 16, AC_NEW + c + (u32)j * 16, 16, (u64)od);
    }
  }
}
static void run(void) {
  fill(A, 32768, 9); fill(B, 24576, 10); fill_words(D, 256);
  DO("lconv3x3_r4_14x16x32", 12 * 12 * 32, lconv(14, 16, 32, 3, 1, 4, D, 0));
  DO("lconv3x3_r2_s2_17x32x16", 8 * 8 * 16, lconv(17, 32, 16, 3, 2, 2, D, 1));
  DO("lconv5x5_r8_12x16x16", 8 * 8 * 16, lconv(12, 16, 16, 5, 1, 8, 0, 0));
  DO("lconv1x1_r6_12x64x32", 12 * 12 * 32, lconv(12, 64, 32, 1, 1, 6, D, 0));
  DO("lconv3x3_r3_20x8x24", 18 * 18 * 24, lconv(20, 8, 24, 3, 1, 3, D, 0));
  DO("lpadded3x3_12x16x16", 12 * 12 * 16, lpadded(12, 16, 16, 0));
  DO("lpadded3x3_pool_12x16x32", 6 * 6 * 32, lpadded(12, 16, 32, 1));
  DO("ldepthwise3x3_10x8", 8 * 8 * 8, ldepthwise(10, 8));
  DO("unrolled3x3_10x16x32", 64 * 32, { unroll_image(10, 16, 3); image_product(64, 32, 144); });
  DO("unrolled3x3_fenced_8x16x48", 36 * 48, { unroll_image(8, 16, 3); FENCE(); image_product(36, 48, 144); FENCE(); });
  DO("pointwise_s2_32x32x64", 16 * 16 * 64, pointwise(32, 32, 64, 2));
  DO("pointwise_s1_16x64x64", 16 * 16 * 64, pointwise(16, 64, 64, 1));
}
