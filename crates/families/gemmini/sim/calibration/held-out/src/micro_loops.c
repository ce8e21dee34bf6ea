/* Small hardware loops and convolution loops. */
#include "tables.h"
static u8 A[64 * 1024] ALIGNED(4096), B[64 * 1024] ALIGNED(4096), C[128 * 1024] ALIGNED(4096);
static i32 D[16 * 1024] ALIGNED(4096);
static NOINLINE void lws(u64 I, u64 J, u64 K, u64 pads, const void *a, const void *b, const void *d, void *c, u64 sa, u64 sb, u64 sd, u64 sc, u64 acc, u64 fullc, u64 act, u64 t) {
  GEM(F_LWS_BOUNDS, (pads >> 16 & 255) | (pads >> 8 & 255) << 16 | (pads & 255) << 32, (K << 32) | (J << 16) | I);
  GEM(F_LWS_AB, a, b); GEM(F_LWS_DC, d, c); GEM(F_LWS_STR_AB, sa, sb); GEM(F_LWS_STR_DC, sd, sc);
  GEM(F_LWS_RUN, (act << 8) | (fullc << 1) | acc, t);
}
struct cv { u64 batch, in, ic, oc, od, pod, stride, pad, kd, ps, pst, pp, b, por, poc, pochs, kr, kc, kch, lp, rp, up, dp, plp, orr, prp, pup, pdp, dil, ocl, flags1, nopool, down, indil, act, ppr; };
static NOINLINE void conv(const struct cv *v, const void *w, void *o, const void *bias, const void *in) {
  GEM(F_LCV_1, v->oc << 48 | v->ic << 32 | v->in << 16 | v->batch, v->pad << 48 | v->stride << 32 | v->pod << 16 | v->od);
  GEM(F_LCV_2, v->kd << 48 | v->ps << 32 | v->pst << 16 | v->pp, v->b << 48 | v->por << 32 | v->poc << 16 | v->pochs);
  GEM(F_LCV_3, v->kr << 48 | v->kc << 32 | v->kch << 16 | v->lp, v->rp << 48 | v->up << 32 | v->dp << 16 | v->plp);
  GEM(F_LCV_4, v->orr << 48 | v->prp << 32 | v->pup << 16 | v->pdp, v->dil << 16 | v->ocl);
  GEM(F_LCV_5, w, o); GEM(F_LCV_6, bias, in);
  GEM(F_LCV_RUN, v->ppr << 8 | v->flags1, v->act << 3 | v->indil << 2 | v->down << 1 | v->nopool);
}
static void setup(u64 sa, u64 sb, u64 sd, u64 sc, int t, int act) { cfg_ex(1, act, t & 1, t >> 1); cfg_st(sc, act, 0); cfg_ld(sa, 0); cfg_ld(sb, 1); cfg_ld(sd, 2); }
static void small(u64 in, u64 ic, u64 oc, u64 kd, u64 s, u64 dil, u64 kch, u64 ppr, const i32 *bias) {
  const u64 od = (in - ((kd - 1) * dil + 1)) / s + 1;
  const struct cv v = {.batch = 1, .in = in, .ic = ic, .oc = oc, .od = od, .pod = od, .stride = s, .kd = kd, .ps = 1, .pst = 1, .b = 1, .por = od, .poc = od, .pochs = oc,
    .kr = kd, .kc = kd, .kch = kch, .orr = od, .ocl = od, .dil = dil, .nopool = 1, .ppr = ppr, .flags1 = bias ? 0 : 1};
  setup(ic, oc, oc * 4, oc, 0, 0);
  CASE(label("conv", "in", (u32)in, "k", (u32)(kd * 100 + s * 10 + dil), "ch", (u32)(ic * 100 + oc)), , conv(&v, B, C, bias, A));
}
static void run(void) {
  touch(A, 65536); touch(B, 65536);
  setup(64, 64, 256, 64, 0, 0);
#define LOOP(name, ...) CASE(name, , lws(__VA_ARGS__))
  LOOP("loop_1x1x1", 1, 1, 1, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0);
  LOOP("loop_2x3x1", 2, 3, 1, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0);
  LOOP("loop_1x4x5", 1, 4, 5, 0, A, B, 0, C, 96, 64, 0, 64, 0, 0, 0, 0);
  LOOP("loop_5x1x3", 5, 1, 3, 0, A, B, 0, C, 48, 16, 0, 16, 0, 0, 0, 0);
  LOOP("loop_3x3x2_pads_9_1_4", 3, 3, 2, 0x090104, A, B, 0, C, 40, 48, 0, 50, 0, 0, 0, 0);
  LOOP("loop_2x2x2_bias_full", 2, 2, 2, 0, A, B, D, C, 64, 64, 64, 64, 0, 1, 0, 0);
  LOOP("loop_2x5x2_bias", 2, 5, 2, 0, A, B, D, C, 64, 128, 80, 80, 0, 0, 0, 0);
  LOOP("loop_no_c_3x3x3", 3, 3, 3, 0, A, B, 0, 0, 64, 64, 0, 64, 0, 0, 0, 0);
  LOOP("loop_acc_2x4x3", 2, 4, 3, 0, A, B, 0, C, 64, 64, 0, 64, 1, 0, 0, 0);
  LOOP("loop_wide_1x12x1", 1, 12, 1, 0, A, B, 0, C, 64, 192, 0, 192, 0, 0, 0, 0);
  setup(64, 64, 256, 64, 1, 0);
  LOOP("loop_ta_3x2x3", 3, 2, 3, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 1);
  setup(64, 64, 256, 64, 2, 1);
  LOOP("loop_tb_relu_2x3x3", 2, 3, 3, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 1, 2);
  setup(64, 64, 256, 64, 0, 0);
  CASE("loop_two_2x2x4", , { lws(2, 2, 4, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0); lws(2, 2, 4, 0, A + 4096, B, 0, C + 4096, 64, 64, 0, 64, 0, 0, 0, 0); });
  CASE("loop_four_1x2x2", , for (int i = 0; i < 4; i++) lws(1, 2, 2, 0, A + i * 1024, B, 0, C + i * 1024, 64, 64, 0, 64, 0, 0, 0, 0));
  CASE("loop_sum_k3", , for (int i = 0; i < 3; i++) lws(2, 2, 2, 0, A + i * 32, B + i * 2048, 0, i == 2 ? C : 0, 96, 64, 0, 64, i > 0, 0, 0, 0));
  CASE("loop_fenced_x3", , for (int i = 0; i < 3; i++) { lws(2, 2, 2, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0); FENCE(); });
  small(6, 16, 16, 3, 1, 1, 16, 1, D); small(9, 16, 16, 3, 2, 1, 16, 1, D); small(9, 8, 40, 3, 1, 1, 8, 1, 0); small(5, 48, 16, 1, 1, 1, 48, 1, D);
  small(8, 3, 16, 3, 1, 1, 3, 3, D); small(10, 4, 16, 5, 1, 1, 4, 3, D); small(9, 16, 16, 3, 1, 2, 16, 1, 0); small(12, 16, 24, 5, 2, 1, 16, 1, D); small(7, 20, 20, 3, 1, 1, 20, 1, D);
}
