/* Random mixtures of commands; every kind of command has a weight in a mixture. */
#ifndef RANDOM_H
#define RANDOM_H
#include "cal.h"
static u8 A[64 * 1024] ALIGNED(4096), B[64 * 1024] ALIGNED(4096), C[96 * 1024] ALIGNED(4096), E[16 * 1024] ALIGNED(4096);
static u64 seed;
static u32 rnd(u32 n) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return (u32)((seed >> 20 & 0xffffff) * n >> 24); }
enum { LD0, LD1, LD2, LDACC, ADDACC, ZERO, STSPAD, STACC, STFULL, WS, WSKEEP, OS, CFGLD, CFGST, FNC, CORE, KINDS };
struct mix { u8 weight[KINDS]; u8 odd_width, odd_rows, misaligned, burst; };
static struct { u64 a, b, c, d; u8 kind; } ops[128];
static u32 rows_of(const struct mix *m) { return m->odd_rows ? 1 + rnd(16) : 16; }
static u32 cols_of(const struct mix *m, u32 most) { u32 w = m->odd_width ? 1 + rnd(most) : 16u << rnd(most == 64 ? 3 : 1); return w > most ? most : w; }
static NOINLINE void choose(const struct mix *m, int n) {
  u32 sum = 0, left = 0, kind = 0;
  for (int k = 0; k < KINDS; k++) sum += m->weight[k];
  for (int i = 0; i < n; i++) {
    if (!left) { u32 x = rnd(sum); for (kind = 0; x >= m->weight[kind]; kind++) x -= m->weight[kind]; left = 1 + (m->burst ? rnd(m->burst) : 0); }
    left--;
    const u32 r = rows_of(m), bank = rnd(4) * BANK, slip = m->misaligned ? rnd(64) : 0;
    u64 a = 0, b = 0, c = 0, d = 0;
    switch (kind) {
    case LD0: case LD1: case LD2: a = (u64)(kind == LD1 ? B : A) + rnd(30) * 1024 + slip; b = loc(bank + rnd(8) * 64, cols_of(m, 64), r); break;
    case LDACC: a = (u64)A + rnd(30) * 1024 + slip; b = loc(AC_NEW + 256 + rnd(4) * 64, cols_of(m, 16), r); break;
    case ADDACC: a = (u64)A + rnd(30) * 1024 + slip; b = loc(AC_SUM + 768 + rnd(4) * 64, cols_of(m, 16), r); break;
    case ZERO: b = loc(bank + 512 + rnd(8) * 16, 16, r); break;
    case STSPAD: a = (u64)C + rnd(60) * 1024 + slip; b = loc(bank + rnd(16) * 16, cols_of(m, 16), r); break;
    case STACC: a = (u64)C + rnd(60) * 1024 + slip; b = loc(AC_NEW + rnd(15) * 64, cols_of(m, 64), r); break;
    case STFULL: a = (u64)C + rnd(60) * 1024 + slip; b = loc(AC_WIDE + rnd(15) * 64, cols_of(m, 16), r); break;
    case WS: case WSKEEP: {
      const u32 w = m->odd_width ? 1 + rnd(16) : 16, k = m->odd_width ? 1 + rnd(16) : 16;
      a = kind == WS ? loc(bank + rnd(32) * 16, w, k) : loc(NOADDR, w, k);
      b = loc(rnd(6) ? (rnd(2) ? AC_NEW : AC_SUM) + rnd(16) * 16 : 3 * BANK + 1024 + rnd(16) * 16, w, r);
      c = loc(rnd(3) * BANK + rnd(32) * 16, k, r); d = loc(NOADDR, 16, 16); break; }
    case OS: a = loc(NOADDR, 16, 16); b = loc(rnd(3) ? NOADDR : AC_NEW + rnd(16) * 16, 16, 16);
      c = loc(rnd(2) * BANK + rnd(32) * 16, 16, 16); d = loc((2 + rnd(2)) * BANK + rnd(32) * 16, 16, 16); break;
    case CFGLD: a = 64u << rnd(3); b = rnd(3); break;
    case CFGST: a = 64u << rnd(2); b = rnd(2); break;
    case CORE: a = (u64)E + rnd(128) * 64; b = 4 + rnd(40); break;
    default: break;
    }
    ops[i].kind = (u8)kind; ops[i].a = a; ops[i].b = b; ops[i].c = c; ops[i].d = d;
  }
}
static volatile u64 sink;
static NOINLINE void go(int n) {
  KEEP_LOOP for (int i = 0; i < n; i++) {
    const u64 a = ops[i].a, b = ops[i].b;
    switch (ops[i].kind) {
    case LD0: case LDACC: case ZERO: GEM(F_MVIN, a, b); break;
    case LD1: GEM(F_MVIN2, a, b); break;
    case LD2: case ADDACC: GEM(F_MVIN3, a, b); break;
    case STSPAD: case STACC: case STFULL: GEM(F_MVOUT, a, b); break;
    case WS: GEM(F_PRELOAD, a, b); GEM(F_COMP, ops[i].c, ops[i].d); break;
    case WSKEEP: case OS: GEM(F_PRELOAD, a, b); GEM(F_COMPACC, ops[i].c, ops[i].d); break;
    case CFGLD: GEM(F_CONFIG, (P2F(0) << 32) | (16u << 16) | (1u << 8) | (b << 3) | 1, a); break;
    case CFGST: GEM(F_CONFIG, (b << 2) | 2, (P2F(0) << 32) | a); break;
    case FNC: FENCE(); break;
    default: { u64 s = 0; KEEP_LOOP for (u64 t = 0; t < b; t++) s += *(volatile u64 *)(a + (t & 7) * 8); sink = s; } break;
    }
  }
}
static NOINLINE void ready(int ws) {
  cfg_ex(1, 0, 0, 0); cfg_ld(64, 0); cfg_ld(64, 1); cfg_ld(64, 2); cfg_st(64, 0, 0);
  for (int i = 0; i < 64; i++) MVIN(0, AC_NEW + (u32)i * 16, 16, 16);
  for (int b = 0; b < 4; b++) for (int i = 0; i < 20; i++) MVIN(A + i * 64, (u32)b * BANK + (u32)i * 64, 64, 16);
  FENCE();
  cfg_ex(ws, 0, 0, 0); FENCE();
}
static void mixture(const char *name, const struct mix *m, u32 s, int n, int ws) {
  ready(ws);
  seed = 0x2545f4914f6cdd1dul * (s + 1) + 77; for (int i = 0; i < 8; i++) rnd(2);
  choose(m, n);
  CASE(label(name, "n", (u32)n, "s", s, 0, 0), , go(n));
}
#endif
