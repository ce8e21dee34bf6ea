// Touches random words of a table larger than the L1 cache.

#include "program.h"

static u32 t[65536];
MAIN {
    u32 s = 1;
    for (;;) {
        u32 x = rnd(&s);
        t[x & 65535] += x;
        u32 y = t[(x >> 5) & 65535];
        KEEP(y);
        KEEP(t);
    }
}
