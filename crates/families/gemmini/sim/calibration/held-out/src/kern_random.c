/* Products in blocks, everything about them drawn: sizes, blocks, buffers, order, bias, stores, places. */
#include "blocks.h"
static u64 seed = 0x123456789abcdeful;
static int draw(int n) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return (int)((seed >> 24 & 0xffffff) * (u64)n >> 24); }
static struct { int m, n, k, ti, tj, tk, fl, act, sh; const i8 *a, *b; i8 *c; } p;
static NOINLINE void any(void) { blocks(p.a, p.b, p.c, D, p.m, p.n, p.k, p.ti, p.tj, p.tk, p.fl, p.act, p.sh); }
static void run(void) {
  fill(A, 32768, 31); fill(B, 32768, 32); fill_words(D, 8192);
  for (int i = 0; i < 32; i++) {
    const int whole = draw(2);
    p.m = whole ? 16 * (1 + draw(7)) : 1 + draw(110); p.n = whole ? 16 * (1 + draw(7)) : 1 + draw(110); p.k = whole ? 16 * (1 + draw(7)) : 1 + draw(110);
    do { p.ti = 1 + draw(6); p.tj = 1 + draw(6); } while (p.ti * p.tj > 16);
    p.tk = 1 + draw(6);
    p.fl = 0;
    if (draw(2)) p.fl |= TWO;
    if (draw(4) == 0) p.fl |= draw(2) ? ROWBIAS : BIAS;
    if (draw(5) == 0) p.fl |= FULL; else if (draw(2)) p.fl |= WIDE;
    if (draw(3) == 0) p.fl |= draw(2) ? HALVES : LATE;
    if (draw(3) == 0) p.fl |= draw(2) ? KIN : HOLD;
    if (draw(6) == 0) p.fl |= ONEBANK;
    if (draw(4) == 0) p.fl |= BKEEP;
    p.act = draw(2); p.sh = -draw(3);
    p.a = A + 16 * draw(8); p.b = B + 16 * draw(8); p.c = C + (p.fl & FULL ? 64 : 16) * draw(4);
    const char *name = label("drawn", "", (u32)i, "m", (u32)p.m, "n", (u32)p.n);
    CASE(name, , any());
    shown(name, C, (u64)(p.m * p.n * (p.fl & FULL ? 4 : 1)));
  }
}
