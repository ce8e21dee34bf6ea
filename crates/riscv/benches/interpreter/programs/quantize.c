// Scales, rounds and clamps accumulators to bytes.

#include "program.h"

static i32 acc[512];
static i8 out[512];
static float scale = 0.0123f;
MAIN {
    u32 s = 6;
    for (int i = 0; i < 512; i++)
        acc[i] = (int)rnd(&s) % 40000 - 20000;
    for (;;) {
        for (int i = 0; i < 512; i++) {
            float f = acc[i] * scale;
            int v = (int)__builtin_rintf(f);
            v = v > 127 ? 127 : v < -128 ? -128 : v;
            if (v < 0)
                v = 0;
            out[i] = v;
        }
        KEEP(out);
    }
}
