// Adds arrays larger than the L1 cache.

#include "program.h"

static u64 a[16384], b[16384];
MAIN {
    for (;;) {
        u64 s = 0;
        for (int i = 0; i < 16384; i++) {
            b[i] = a[i] + i;
            s += a[i];
        }
        KEEP(s);
        KEEP(a);
        KEEP(b);
    }
}
