// Fills, copies and measures blocks of memory of any size and alignment.

#include "program.h"

static u8 a[4096], b[4096];

NOINLINE static void *copy(void *d, const void *s, size_t n) {
    u8 *p = d;
    const u8 *q = s;
    if ((((u64)p ^ (u64)q) & 7) == 0) {
        while (((u64)p & 7) && n)
            *p++ = *q++, n--;
        for (; n >= 32; n -= 32, p += 32, q += 32) {
            u64 w = ((u64 *)q)[0], x = ((u64 *)q)[1], y = ((u64 *)q)[2], z = ((u64 *)q)[3];
            ((u64 *)p)[0] = w;
            ((u64 *)p)[1] = x;
            ((u64 *)p)[2] = y;
            ((u64 *)p)[3] = z;
        }
        for (; n >= 8; n -= 8, p += 8, q += 8)
            *(u64 *)p = *(u64 *)q;
    }
    while (n) {
        *p++ = *q++, n--;
        __asm__ volatile("");
    }
    return d;
}

NOINLINE static void *fill(void *d, int c, size_t n) {
    u8 *p = d;
    while (((u64)p & 7) && n) {
        *p++ = c, n--;
        __asm__ volatile("");
    }
    u64 w = (u8)c * 0x0101010101010101ul;
    for (; n >= 8; n -= 8, p += 8)
        *(u64 *)p = w;
    while (n) {
        *p++ = c, n--;
        __asm__ volatile("");
    }
    return d;
}

NOINLINE static size_t length(const char *s) {
    const char *p = s;
    while (*p)
        p++;
    return p - s;
}

MAIN {
    u32 s = 1;
    for (;;) {
        size_t n = rnd(&s) % 200 + 1, o = rnd(&s) % 64;
        fill(a + o, 'x', n);
        a[o + n] = 0;
        copy(b + (rnd(&s) & 15), a + o, n + 1);
        size_t l = length((char *)a + o);
        KEEP(l);
    }
}
