// Writes numbers in several bases as text: divisions by a variable.

#include "program.h"

static char out[128];

NOINLINE static char *number(char *p, u64 v, u32 base, int width, char pad) {
    char t[24];
    int n = 0;
    do {
        u32 d = v % base;
        t[n++] = d < 10 ? '0' + d : 'a' + d - 10;
        v /= base;
    } while (v);
    while (n < width)
        t[n++] = pad;
    while (n)
        *p++ = t[--n];
    return p;
}

NOINLINE static char *print(char *p, const char *f, const u64 *args) {
    for (; *f; f++) {
        if (*f != '%') {
            *p++ = *f;
            continue;
        }
        int width = 0;
        char pad = ' ';
        f++;
        if (*f == '0')
            pad = '0', f++;
        while (*f >= '0' && *f <= '9')
            width = width * 10 + *f++ - '0';
        switch (*f) {
        case 'd': {
            i64 v = *args++;
            if (v < 0) {
                *p++ = '-';
                v = -v;
            }
            p = number(p, v, 10, width, pad);
            break;
        }
        case 'x':
            p = number(p, *args++, 16, width, pad);
            break;
        case 'o':
            p = number(p, *args++, 8, width, pad);
            break;
        case 's':
            for (const char *s = (const char *)*args++; *s;)
                *p++ = *s++;
            break;
        case 'c':
            *p++ = *args++;
            break;
        }
    }
    *p = 0;
    return p;
}

MAIN {
    u32 s = 5;
    for (;;) {
        u64 args[] = {rnd(&s), (u64) - (i64)(rnd(&s) & 0xfff), (u64) "name", rnd(&s)};
        print(out, "value %d of %05d in %s: 0x%08x\n", args);
        KEEP(out);
    }
}
