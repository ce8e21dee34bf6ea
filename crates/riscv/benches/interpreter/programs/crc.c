// A cyclic redundancy check by table.

#include "program.h"

static u32 table[256];
static u8 data[4096];
MAIN {
    for (u32 i = 0; i < 256; i++) {
        u32 c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[i] = c;
    }
    u32 s = 1;
    for (int i = 0; i < 4096; i++)
        data[i] = rnd(&s);
    for (;;) {
        u32 c = ~0u;
        for (int i = 0; i < 4096; i++)
            c = table[(c ^ data[i]) & 255] ^ c >> 8;
        KEEP(c);
    }
}
