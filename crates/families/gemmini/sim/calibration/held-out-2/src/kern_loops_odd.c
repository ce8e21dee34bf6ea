/* Hardware loops, matrix and convolution, of shapes that are rarely chosen. */
#include "blocks.h"
INL void lws(u64 I, u64 J, u64 K, u64 pi, u64 pj, u64 pk, const void *a, const void *b, const void *d, void *c, u64 sa, u64 sb, u64 sd, u64 sc, u64 acc, u64 fullc, u64 lowd, u64 act, u64 ta, u64 tb) {
  GEM(F_LWS_BOUNDS, (pk << 32) | (pj << 16) | pi, (K << 32) | (J << 16) | I);
  GEM(F_LWS_AB, a, b); GEM(F_LWS_DC, d, c); GEM(F_LWS_STR_AB, sa, sb); GEM(F_LWS_STR_DC, sd, sc);
  GEM(F_LWS_RUN, (act << 8) | (lowd << 2) | (fullc << 1) | acc, (tb << 1) | ta);
}
static NOINLINE void set(u64 sa, u64 sb, u64 sd, u64 sc, int lowd, int act, int sh, int ta, int tb) {
  cfg_ex(1, act, ta, tb); cfg_st(sc, act, sh); cfg_ld(sa, 0); cfg_ld(sb, 1); cfg_ld_full(sd, 2, lowd, 16);
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
/* layers of a small net, each a convolution loop: padded, with a step, pooled */
static NOINLINE void net(int fences) {
  static const struct cv v[4] = {
    {.batch = 1, .in = 12, .ic = 3, .oc = 16, .od = 12, .pod = 6, .stride = 1, .pad = 1, .kd = 3, .ps = 2, .pst = 2, .b = 1, .por = 6, .poc = 6, .pochs = 16, .kr = 3, .kc = 3, .kch = 3, .lp = 1, .rp = 1, .up = 1, .dp = 1, .orr = 12, .ocl = 12, .dil = 1, .act = 1, .ppr = 3},
    {.batch = 1, .in = 6, .ic = 16, .oc = 40, .od = 6, .pod = 6, .stride = 1, .pad = 1, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 6, .poc = 6, .pochs = 40, .kr = 3, .kc = 3, .kch = 16, .lp = 1, .rp = 1, .up = 1, .dp = 1, .orr = 6, .ocl = 6, .dil = 1, .act = 1, .nopool = 1, .ppr = 1},
    {.batch = 1, .in = 6, .ic = 40, .oc = 24, .od = 3, .pod = 3, .stride = 2, .pad = 1, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = 3, .poc = 3, .pochs = 24, .kr = 3, .kc = 3, .kch = 40, .lp = 1, .rp = 0, .up = 1, .dp = 0, .orr = 3, .ocl = 3, .dil = 1, .act = 1, .nopool = 1, .ppr = 1},
    {.batch = 1, .in = 3, .ic = 24, .oc = 16, .od = 3, .pod = 3, .stride = 1, .kd = 1, .ps = 1, .pst = 1, .b = 1, .por = 3, .poc = 3, .pochs = 16, .kr = 1, .kc = 1, .kch = 24, .orr = 3, .ocl = 3, .dil = 1, .nopool = 1, .ppr = 1}};
  static const int sh[4] = {-2, -3, -3, -2};
  const i8 *in = A, *w = B; i8 *o = E;
  for (int l = 0; l < 4; l++) {
    const struct cv *c = v + l;
    set(c->ic, c->oc, 4 * c->oc, c->oc, 0, (int)c->act, sh[l], 0, 0);
    conv(c, w, l == 3 ? C : o, D, in);
    if (fences || l < 3) FENCE();
    in = o; o += 4096; w += c->kd * c->kd * c->ic * c->oc;
  }
}
/* a convolution in parts of its output rows, input channels and output channels */
static NOINLINE void parts(u64 in, u64 ic, u64 oc, u64 rows, u64 chs, u64 deep) {
  const u64 od = in - 2;
  set(ic, oc, 4 * oc, oc, 0, 1, -3, 0, 0);
  for (u64 y = 0; y < od; y += rows) for (u64 c = 0; c < oc; c += chs) for (u64 k = 0; k < ic; k += deep) {
    const u64 r = od - y < rows ? od - y : rows, n = oc - c < chs ? oc - c : chs, d = ic - k < deep ? ic - k : deep;
    struct cv v = {.batch = 1, .in = in, .ic = ic, .oc = oc, .od = od, .pod = od, .stride = 1, .kd = 3, .ps = 1, .pst = 1, .b = 1, .por = r, .poc = od, .pochs = n, .kr = 3, .kc = 3, .kch = d, .orr = r, .ocl = od, .dil = 1, .nopool = 1, .act = 1, .ppr = 1};
    conv(&v, B + k * oc + c, k + d == ic ? C + y * od * oc + c : 0, k ? 0 : (const void *)(D + c), A + y * in * ic + k);
  }
}
static NOINLINE void shape(int I, int J, int K, int n, int fence) {
  const u64 sa = (u64)K * 16, sb = (u64)J * 16;
  set(sa, sb, sb * 4, sb, 0, 0, -2, 0, 0);
  for (int t = 0; t < n; t++) {
    lws((u64)I, (u64)J, (u64)K, 0, 0, 0, A + t * 1024, B, 0, C + t * I * J * 256, sa, sb, 0, sb, 0, 0, 0, 0, 0, 0);
    if (fence) FENCE();
  }
}
/* K in chunks that stay in the accumulator, the bias bytes, repeated or not */
static NOINLINE void chunks(int M, int N, int K, int tk, int lowd, int repeat, int full) {
  const u64 es = full ? 4 : 1, sd = repeat ? 0 : (u64)N * (lowd ? 1 : 4);
  set((u64)K, (u64)N, sd, (u64)N * es, lowd, 1, full ? 0 : -3, 0, 0);
  for (int k = 0; k < K / 16; k += tk) {
    const int c = least(tk, K / 16 - k);
    lws((u64)CEIL16(M), (u64)CEIL16(N), (u64)c, (u64)(CEIL16(M) * 16 - M), (u64)(CEIL16(N) * 16 - N), 0, A + k * 16, B + k * 16 * N, k ? 0 : (lowd ? (const void *)E : (const void *)D),
        k + c == K / 16 ? C : 0, (u64)K, (u64)N, repeat ? 0 : (u64)N, (u64)N, k > 0, (u64)full, (u64)lowd, 1, 0, 0);
  }
}
static NOINLINE void turned(int I, int J, int K, int ta, int tb, int n) {
  const u64 sa = ta ? (u64)I * 16 : (u64)K * 16, sb = tb ? (u64)K * 16 : (u64)J * 16, sc = (u64)J * 16;
  set(sa, sb, 0, sc, 0, 0, -2, ta, tb);
  for (int t = 0; t < n; t++) lws((u64)I, (u64)J, (u64)K, 5, 3, 0, A + t * 4096, B, 0, C + t * I * J * 256, sa, sb, 0, sc, 0, 0, 0, 0, (u64)ta, (u64)tb);
}
static void run(void) {
  fill(A, 131072, 51); fill(B, 65536, 52); fill_words(D, 16384); fill(E, 16384, 53);
  DO("shape_16x2x8", 8192, shape(16, 2, 8, 1, 0));
  DO("shape_2x16x8_x2", 16384, shape(2, 16, 8, 2, 0));
  DO("shape_1x4x32_x3", 3072, shape(1, 4, 32, 3, 0));
  DO("shape_32x1x4", 8192, shape(32, 1, 4, 1, 0));
  DO("shape_5x6x7_x2", 15360, shape(5, 6, 7, 2, 0));
  DO("shape_3x7x1_x6", 32256, shape(3, 7, 1, 6, 0));
  DO("shape_1x1x64_x4", 1024, shape(1, 1, 64, 4, 0));
  DO("shape_2x2x2_fenced_x8", 8192, shape(2, 2, 2, 8, 1));
  DO("shape_1x1x1_x16", 4096, shape(1, 1, 1, 16, 0));
  DO("chunks_64x64x192_lowd", 4096, chunks(64, 64, 192, 4, 1, 0, 0));
  DO("chunks_50x90x128_row", 4480, chunks(50, 90, 128, 3, 0, 1, 0));
  DO("chunks_64x48x96_full", 12288, chunks(64, 48, 96, 2, 0, 0, 1));
  DO("chunks_30x30x160_lowd_row", 896, chunks(30, 30, 160, 5, 1, 1, 0));
  DO("turned_a_5x3x6_x2", 7680, turned(5, 3, 6, 1, 0, 2));
  DO("turned_b_3x6x4_x2", 9216, turned(3, 6, 4, 0, 1, 2));
  DO("net", 144, net(0));
  DO("net_fenced", 144, net(1));
  DO("parts_14x32x32_r4_c16", 4608, parts(14, 32, 32, 4, 16, 32));
  DO("parts_10x48x40_r8_k16", 2560, parts(10, 48, 40, 8, 40, 16));
  DO("parts_18x20x24_r5_k20", 6144, parts(18, 20, 24, 5, 24, 20));
}
