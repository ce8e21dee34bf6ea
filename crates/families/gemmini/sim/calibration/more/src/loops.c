/* Hardware loops: bias, widths, transposes, padding; convolutions with stride, pooling, dilation, depthwise. */
#include "tables.h"
static u8 A[128 * 1024] ALIGNED(4096);
static u8 B[128 * 1024] ALIGNED(4096);
static i32 D[32 * 1024] ALIGNED(4096);
static u8 C[256 * 1024] ALIGNED(4096);
static inline __attribute__((always_inline)) void
lws(u64 I, u64 J, u64 K, u64 pi, u64 pj, u64 pk, const void *a, const void *b, const void *d, void *c, u64 sa, u64 sb, u64 sd, u64 sc,
    u64 acc, u64 fullc, u64 lowd, u64 act, u64 ta, u64 tb, u64 resadd) {
  GEM(F_LWS_BOUNDS, (pk << 32) | (pj << 16) | pi, (K << 32) | (J << 16) | I);
  GEM(F_LWS_AB, a, b); GEM(F_LWS_DC, d, c); GEM(F_LWS_STR_AB, sa, sb); GEM(F_LWS_STR_DC, sd, sc);
  GEM(F_LWS_RUN, (act << 8) | (lowd << 2) | (fullc << 1) | acc, (resadd << 2) | (tb << 1) | ta);
}
struct cv { u64 batch, in, ic, oc, od, pod, stride, pad, kd, ps, pst, pp, b, por, poc, pochs, kr, kc, kch, lp, rp, up, dp, plp, orr, prp, pup, pdp, dil, ocl;
  u64 flags1, nopool, down, indil, act, ppr; };
static NOINLINE void conv(const struct cv *v, const void *w, void *o, const void *bias, const void *in) {
  GEM(F_LCV_1, v->oc << 48 | v->ic << 32 | v->in << 16 | v->batch, v->pad << 48 | v->stride << 32 | v->pod << 16 | v->od);
  GEM(F_LCV_2, v->kd << 48 | v->ps << 32 | v->pst << 16 | v->pp, v->b << 48 | v->por << 32 | v->poc << 16 | v->pochs);
  GEM(F_LCV_3, v->kr << 48 | v->kc << 32 | v->kch << 16 | v->lp, v->rp << 48 | v->up << 32 | v->dp << 16 | v->plp);
  GEM(F_LCV_4, v->orr << 48 | v->prp << 32 | v->pup << 16 | v->pdp, v->dil << 16 | v->ocl);
  GEM(F_LCV_5, w, o); GEM(F_LCV_6, bias, in);
  GEM(F_LCV_RUN, v->ppr << 8 | v->flags1, v->act << 3 | v->indil << 2 | v->down << 1 | v->nopool);
}
static void setup(u64 sa, u64 sb, u64 sd, u64 sc, int ta, int tb, int act) {
  cfg_ex(1, act, ta, tb); cfg_st(sc, act, 0); cfg_ld(sa, 0); cfg_ld(sb, 1); cfg_ld(sd, 2);
}
static void run(void) {
  touch(A, 65536); touch(B, 65536);
  setup(64, 64, 256, 64, 0, 0, 0);
  CASE("lws_3x2x4", , lws(3, 2, 4, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_1x1x8", , lws(1, 1, 8, 0, 0, 0, A, B, 0, C, 128, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_8x1x1", , lws(8, 1, 1, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_1x6x1", , lws(1, 6, 1, 0, 0, 0, A, B, 0, C, 64, 96, 0, 96, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_4x4x4_s512", , lws(4, 4, 4, 0, 0, 0, A, B, 0, C, 512, 512, 0, 512, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_3x3x3_pad", , lws(3, 3, 3, 7, 5, 3, A, B, 0, C, 48, 48, 0, 48, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_2x2x2_bias", , lws(2, 2, 2, 0, 0, 0, A, B, D, C, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0));
  CASE("lws_4x4x4_bias_row", , lws(4, 4, 4, 0, 0, 0, A, B, D, C, 64, 64, 0, 64, 0, 0, 0, 1, 0, 0, 0));
  cfg_ld_full(64, 2, 1, 16);
  CASE("lws_4x4x4_lowd", , lws(4, 4, 4, 0, 0, 0, A, B, D, C, 64, 64, 64, 64, 0, 0, 1, 0, 0, 0, 0));
  cfg_ld(256, 2);
  CASE("lws_4x4x2_full", , lws(4, 4, 2, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 0, 1, 0, 0, 0, 0, 0));
  CASE("lws_3x3x3_full_pad_bias", , lws(3, 3, 3, 1, 2, 3, A, B, D, C, 64, 64, 48, 48, 0, 1, 0, 0, 0, 0, 0));
  CASE("lws_accumulate", , lws(4, 4, 2, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 1, 0, 0, 0, 0, 0, 0));
  setup(64, 64, 256, 64, 1, 0, 0);
  CASE("lws_4x4x4_ta", , lws(4, 4, 4, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0, 1, 0, 0));
  CASE("lws_3x2x4_ta_pad", , lws(3, 2, 4, 3, 2, 1, A, B, 0, C, 48, 64, 0, 64, 0, 0, 0, 0, 1, 0, 0));
  setup(64, 64, 256, 64, 0, 1, 0);
  CASE("lws_4x4x4_tb", , lws(4, 4, 4, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0, 0, 1, 0));
  CASE("lws_3x2x4_tb_pad", , lws(3, 2, 4, 3, 2, 1, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0, 0, 1, 0));
  setup(64, 64, 256, 64, 0, 0, 1);
  CASE("lws_relu_x3", , for (int i = 0; i < 3; i++) lws(2, 4, 2, 0, 0, 0, A + i * 2048, B, D, C + i * 2048, 64, 64, 0, 64, 0, 0, 0, 1, 0, 0, 0));
  /* residual addition by the loop */
  cfg_ex(1, 0, 0, 0); cfg_st(64, 0, 0); cfg_ld_full(64, 0, 1, 16); cfg_ld_full(64, 1, 1, 16);
  /* with configuration in front, as a library does, several blocks */
  CASE("lws_cfg_blocks", , for (int i = 0; i < 3; i++) { setup(64, 64, 256, 64, 0, 0, 0); lws(4, 4, 2, 0, 0, 0, A + i * 4096, B, 0, C + i * 4096, 64, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0); });
  /* loop while plain commands wait */
  CASE("mvin_pair_lws", , { MVIN(A, 8192, 16, 16); PRELOAD(12288, AC_NEW + 768); COMP(8192); lws(2, 2, 2, 0, 0, 0, A, B, 0, C, 64, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0); MVOUT(C + 65536, AC_NEW + 768, 16, 16); });
  setup(64, 64, 256, 64, 0, 0, 0);
  /* convolutions: in = dimension of the (square) input, od = output */
#define CV(name, bias, ...) { static const struct cv v = {__VA_ARGS__}; const void *bb = (bias); CASE(name, , conv(&v, B, C, bb, A)); }
  CV("cv3x3", 0, .batch = 1, .in = 10, .ic = 16, .oc = 16, .od = 8, .pod = 8, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1, .flags1 = 1)
  CV("cv3x3_bias", D, .batch = 1, .in = 10, .ic = 16, .oc = 32, .od = 8, .pod = 8, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 32, .kr = 3, .kc = 3, .kch = 16, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1)
  CV("cv3x3_padded", D, .batch = 1, .in = 8, .ic = 32, .oc = 16, .od = 8, .pod = 8, .stride = 1, .pad = 1, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 16, .kr = 3, .kc = 3, .kch = 32, .lp = 1, .rp = 1, .up = 1, .dp = 1, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1)
  CV("cv3x3_s2", D, .batch = 1, .in = 17, .ic = 16, .oc = 16, .od = 8, .pod = 8, .stride = 2, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1)
  CV("cv1x1_s2_down", D, .batch = 1, .in = 16, .ic = 16, .oc = 16, .od = 8, .pod = 8, .stride = 2, .pad = 0, .kd = 1, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 16, .kr = 1, .kc = 1, .kch = 16, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1, .down = 1)
  CV("cv3x3_pool2", D, .batch = 1, .in = 10, .ic = 16, .oc = 16, .od = 8, .pod = 4, .stride = 1, .pad = 0, .kd = 3, .ps = 2, .pst = 2, .b = 1, .por = 4, .poc = 4, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 8, .ocl = 8, .dil = 1, .ppr = 1)
  CV("cv3x3_pool3s2_b2", D, .batch = 2, .in = 11, .ic = 16, .oc = 32, .od = 9, .pod = 4, .stride = 1, .pad = 0, .kd = 3, .ps = 3, .pst = 2, .b = 2, .por = 4, .poc = 4, .pochs = 32, .kr = 3, .kc = 3, .kch = 16, .orr = 9, .ocl = 9, .dil = 1, .ppr = 1, .act = 1)
  CV("cv3x3_dil2", D, .batch = 1, .in = 12, .ic = 16, .oc = 16, .od = 8, .pod = 8, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 8, .ocl = 8, .dil = 2, .nopool = 1, .ppr = 1)
  CV("cv3x3_dw", D, .batch = 1, .in = 10, .ic = 1, .oc = 1, .od = 8, .pod = 8, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 1, .kr = 3, .kc = 3, .kch = 1, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1, .flags1 = 64)
  CV("cv5x5_first_ppr5", D, .batch = 1, .in = 12, .ic = 3, .oc = 16, .od = 8, .pod = 8, .stride = 1, .pad = 0, .kd = 5, .ps = 1, .pst = 1, .b = 1, .por = 8, .poc = 8, .pochs = 16, .kr = 5, .kc = 5, .kch = 3, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 5)
  CV("cv3x3_part_19ch", D, .batch = 1, .in = 8, .ic = 19, .oc = 21, .od = 6, .pod = 6, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 6, .poc = 6, .pochs = 21, .kr = 3, .kc = 3, .kch = 19, .orr = 6, .ocl = 6, .dil = 1, .nopool = 1, .ppr = 1)
  CV("cv3x3_od20", D, .batch = 1, .in = 22, .ic = 16, .oc = 16, .od = 20, .pod = 20, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 4, .poc = 20, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 4, .ocl = 20, .dil = 1, .nopool = 1, .ppr = 1)
  CV("cv1x1_b2", D, .batch = 2, .in = 8, .ic = 32, .oc = 32, .od = 8, .pod = 8, .stride = 1, .pad = 0, .kd = 1, .ps = 1, .pst = 1, .b = 2, .por = 8, .poc = 8, .pochs = 32, .kr = 1, .kc = 1, .kch = 32, .orr = 8, .ocl = 8, .dil = 1, .nopool = 1, .ppr = 1)
  CV("cv3x3_indil", D, .batch = 1, .in = 5, .ic = 16, .oc = 16, .od = 7, .pod = 7, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 7, .poc = 7, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 7, .ocl = 7, .dil = 1, .nopool = 1, .ppr = 1, .indil = 1)
  CV("cv3x3_wrot", D, .batch = 1, .in = 8, .ic = 16, .oc = 16, .od = 6, .pod = 6, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 6, .poc = 6, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 6, .ocl = 6, .dil = 1, .nopool = 1, .ppr = 1, .flags1 = 2)
  CV("cv3x3_tw0132", D, .batch = 1, .in = 8, .ic = 16, .oc = 16, .od = 6, .pod = 6, .stride = 1, .pad = 0, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 6, .poc = 6, .pochs = 16, .kr = 3, .kc = 3, .kch = 16, .orr = 6, .ocl = 6, .dil = 1, .nopool = 1, .ppr = 1, .flags1 = 16)
}
