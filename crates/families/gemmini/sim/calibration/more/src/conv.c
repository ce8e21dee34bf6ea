/* Convolution loops in more shapes than loops.c has: several channels, stride and padding, pooling, transposes,
   dilated kernels and inputs, depthwise, odd sizes, loops in a row. */
#include "tables.h"
#pragma clang diagnostic ignored "-Winitializer-overrides"
static u8 A[256 * 1024] ALIGNED(4096);
static u8 B[128 * 1024] ALIGNED(4096);
static i32 D[1024] ALIGNED(4096);
static u8 C[64 * 1024] ALIGNED(4096);
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
static void setup(int wide, int tb, int act) { cfg_ex(1, act, 0, tb); cfg_st((u64)wide, act, 0); }
/* A square image of IN pixels, IC to OC channels, OD pixels out, kernel of K. */
#define CONV(IN, IC, OC, OD, K) .batch = 1, .in = IN, .ic = IC, .oc = OC, .od = OD, .pod = OD, .stride = 1, .kd = K, .ps = 1, .pst = 1, .b = 1, \
  .por = OD, .poc = OD, .pochs = OC, .kr = K, .kc = K, .kch = IC, .orr = OD, .ocl = OD, .dil = 1, .nopool = 1, .ppr = 1
#define PAD(P) .pad = P, .lp = P, .rp = P, .up = P, .dp = P
#define POOL(S, T, OD) .nopool = 0, .ps = S, .pst = T, .pod = OD, .por = OD, .poc = OD
#define CV(name, bias, ...) { static const struct cv v = {__VA_ARGS__}; const void *bb = (bias); CASE(name, , conv(&v, B, C, bb, A)); }
/* N loops in a row, each with its own part of the output and of the weights. */
#define CVN(name, n, bias, wstep, istep, ostep, ...) { static const struct cv v = {__VA_ARGS__}; const void *bb = (bias); \
  CASE(name, , KEEP_LOOP for (u64 i = 0; i < (n); i++) conv(&v, B + i * (wstep), C + i * (ostep), bb, A + i * (istep))); }
#define ONE_MORE(N) .batch = N, .b = N
static void run(void) {
  touch(A, 65536); touch(B, 65536);
  setup(16, 0, 0);
  /* channels and sizes */
  CV("ch16x16_5", D, CONV(7, 16, 16, 5, 3))
  CV("ch64x16_7", D, CONV(9, 64, 16, 7, 3))
  CV("ch32x64_7", D, CONV(9, 32, 64, 7, 3))
  CV("ch128x32_7_pad", D, CONV(7, 128, 32, 7, 3), PAD(1))
  CV("ch5x7_6", D, CONV(8, 5, 7, 6, 3))
  CV("ch17x33_6_pad", D, CONV(6, 17, 33, 6, 3), PAD(1))
  CV("ch33x17_9_k2", 0, CONV(10, 33, 17, 9, 2), .flags1 = 1)
  CV("ch65x16_k1", D, CONV(9, 65, 16, 9, 1))
  CV("ch64x64_k1_14x7", D, CONV(14, 64, 64, 14, 1), .orr = 7, .por = 7)
  CV("ch16x32_b3", D, CONV(8, 16, 32, 6, 3), ONE_MORE(3))
  CV("ch32x16_b2_pad", D, CONV(6, 32, 16, 6, 3), ONE_MORE(2), PAD(1))
  CV("od17_pad", D, CONV(17, 16, 16, 17, 3), PAD(1))
  CV("od24x3_k5", D, CONV(28, 16, 16, 24, 5), .orr = 3, .por = 3)
  CV("od14x14_ch64", D, CONV(16, 64, 16, 14, 3))
  CV("od28x14_ch64", D, CONV(30, 64, 16, 28, 3), .orr = 14, .por = 14)
  CV("k1x3", D, CONV(10, 32, 16, 8, 3), .kr = 1)
  CV("k7_pad3", D, CONV(9, 16, 16, 9, 7), PAD(3))
  CV("one_pixel", D, CONV(3, 32, 32, 1, 3))
  CV("one_row", D, CONV(18, 32, 16, 16, 3), .orr = 1, .por = 1)
  CV("one_column", D, CONV(18, 32, 16, 16, 3), .ocl = 1, .poc = 1)
  /* only some operands */
  CV("zero_bias", D, CONV(10, 32, 16, 8, 3), .flags1 = 1)
  CV("no_bias_at_all", 0, CONV(10, 32, 16, 8, 3))
  { static const struct cv v = {CONV(10, 32, 16, 8, 3)}; CASE("no_output", , conv(&v, B, 0, D, A));
    CASE("sums_then_output", , { conv(&v, B, 0, D, A); conv(&v, B, C, 0, A); }); }
  /* stride */
  CV("s2_pad", D, CONV(16, 16, 16, 8, 3), PAD(1), .stride = 2)
  CV("s2_pad_ch32x48", D, CONV(12, 32, 48, 6, 3), PAD(1), .stride = 2)
  CV("s3_k5", D, CONV(26, 16, 16, 7, 5), .stride = 3)
  CV("s2_k1", D, CONV(16, 32, 32, 8, 1), .stride = 2)
  CV("s2_k1_down_ch32x32", D, CONV(16, 32, 32, 8, 1), .stride = 2, .down = 1)
  CV("s2_k1_down_odd", D, CONV(14, 20, 20, 7, 1), .stride = 2, .down = 1)
  CV("s2_k1_down_od20", D, CONV(40, 16, 16, 20, 1), .stride = 2, .down = 1, .orr = 5, .por = 5)
  CV("s4_k11_ch3_ppr5", D, CONV(31, 3, 32, 6, 11), .stride = 4, .ppr = 5)
  CV("s2_k7_ch3_ppr5_pad", D, CONV(14, 3, 48, 7, 7), .stride = 2, .ppr = 5, PAD(3))
  /* pooling and activation */
  setup(16, 0, 1);
  CV("pool2_ch32x32", D, CONV(10, 32, 32, 8, 3), POOL(2, 2, 4), .act = 1)
  CV("pool3s2_pad", D, CONV(9, 16, 16, 9, 3), PAD(1), POOL(3, 2, 5), .pp = 1, .plp = 1, .pup = 1, .prp = 1, .pdp = 1)
  CV("pool3s1_ch21", D, CONV(8, 21, 21, 6, 3), POOL(3, 1, 4), .act = 1)
  CV("pool2_b2_ch48", D, CONV(8, 16, 48, 6, 3), POOL(2, 2, 3), ONE_MORE(2))
  CV("relu_ch32x32", D, CONV(8, 32, 32, 6, 3), .act = 1)
  setup(16, 0, 0);
  /* transposes */
  CV("to1203", D, CONV(8, 32, 32, 6, 3), .flags1 = 4)
  CV("to1203_b2", D, CONV(8, 16, 32, 6, 3), ONE_MORE(2), .flags1 = 4)
  CV("tw1203", D, CONV(8, 32, 32, 6, 3), .flags1 = 8)
  CV("tw1203_pad_odd", D, CONV(6, 19, 37, 6, 3), PAD(1), .flags1 = 8)
  CV("wrot_ch32x20", D, CONV(8, 32, 20, 6, 3), .flags1 = 2)
  CV("ti3120_b16", D, CONV(5, 8, 16, 3, 3), ONE_MORE(16), .flags1 = 32)
  CV("ti3120_b4_to1203", D, CONV(6, 8, 16, 4, 3), ONE_MORE(4), .flags1 = 32 | 4)
  CV("ti3120_b20", D, CONV(4, 8, 16, 3, 2), ONE_MORE(20), .flags1 = 32)
  CV("ti3120_to1203_tw1203", D, CONV(6, 8, 16, 2, 5), ONE_MORE(16), .flags1 = 32 | 4 | 8)
  setup(16, 1, 0);
  CV("tw0132_ch32x32", D, CONV(8, 32, 32, 6, 3), .flags1 = 16)
  CV("tw0132_wrot_odd", D, CONV(6, 21, 35, 6, 3), PAD(1), .flags1 = 16 | 2)
  CV("indil_backward", D, CONV(5, 32, 32, 9, 3), PAD(1), .indil = 1, .flags1 = 16 | 2)
  setup(16, 0, 0);
  /* dilation */
  CV("dil2_ch32x32_pad2", D, CONV(8, 32, 32, 8, 3), PAD(2), .dil = 2)
  CV("dil3_k2", D, CONV(11, 16, 16, 8, 2), .dil = 3)
  CV("indil_9", D, CONV(6, 16, 16, 9, 3), .indil = 1)
  CV("indil_9_pad1", D, CONV(5, 16, 16, 9, 3), PAD(1), .indil = 1)
  CV("indil_8_pad2_ch32x32", D, CONV(5, 32, 32, 8, 3), PAD(2), .indil = 1)
  CV("indil_20x4_pad1", D, CONV(10, 16, 16, 20, 3), PAD(1), .orr = 4, .por = 4, .indil = 1)
  CV("indil_k1", D, CONV(5, 16, 16, 9, 1), .indil = 1)
  CV("indil_k4_b2", D, CONV(5, 16, 16, 7, 4), PAD(1), ONE_MORE(2), .indil = 1)
  CV("indil_one_row", D, CONV(9, 16, 16, 15, 3), .orr = 1, .por = 1, .indil = 1)
  CVN("indil_x3", 3, D, 2304, 0, 1024, CONV(5, 16, 16, 7, 3), .indil = 1)
  /* depthwise: one channel a loop */
  CVN("dw_x4", 4, D, 9, 1, 1, CONV(10, 16, 16, 8, 3), .pochs = 1, .kch = 1, .flags1 = 64)
  CVN("dw_ppr3_x4", 4, D, 9, 1, 1, CONV(10, 16, 16, 8, 3), .pochs = 1, .kch = 1, .ppr = 3, .flags1 = 64)
  CVN("dw_ppr3_14_x4_pad", 4, D, 9, 1, 1, CONV(14, 16, 16, 14, 3), PAD(1), .pochs = 1, .kch = 1, .ppr = 3, .flags1 = 64)
  CVN("dw_s2_x3", 3, D, 9, 1, 1, CONV(17, 16, 16, 8, 3), .stride = 2, .pochs = 1, .kch = 1, .flags1 = 64)
  /* loops in a row, as a convolution in blocks */
  CVN("blocks_oc_x4", 4, D, 16, 0, 16, CONV(16, 64, 64, 14, 3), .pochs = 16)
  CVN("blocks_rows_x3", 3, D, 0, 16 * 4 * 32, 14 * 4 * 16, CONV(16, 32, 16, 14, 3), .orr = 4, .por = 4)
  CVN("blocks_small_x6", 6, D, 16, 0, 16, CONV(6, 16, 96, 4, 3), .pochs = 16)
  CVN("blocks_k1_x5", 5, D, 0, 16 * 64, 16 * 16, CONV(16, 64, 16, 16, 1), .orr = 1, .por = 1)
  { static const struct cv v = {CONV(10, 32, 32, 8, 3), .pochs = 16}; static const struct cv w = {CONV(10, 32, 32, 8, 3), .pochs = 16, POOL(2, 2, 4)};
    CASE("blocks_configured_x3", , KEEP_LOOP for (int i = 0; i < 3; i++) { setup(32, 0, 1); conv(&v, B + 16 * i, C + 16 * i, D, A); });
    CASE("blocks_mixed", , { conv(&v, B, C, D, A); conv(&w, B + 16, C + 16, D, A); conv(&v, B, C + 8192, D, A); });
    setup(16, 0, 0);
    CASE("beside_plain", , { MVIN(A, 4000, 16, 16); PRELOAD(4000, AC_NEW + 500); COMP(4000); conv(&v, B, C, D, A); MVOUT(C + 32768, AC_NEW + 500, 16, 16); }); }
  { static const struct cv deep = {CONV(10, 64, 16, 8, 3), .kch = 32};
    CASE("blocks_deep", , { conv(&deep, B, 0, D, A); conv(&deep, B + 32 * 16, C, 0, A + 32); }); }
}
