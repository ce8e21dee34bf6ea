// Looks for words in a text, and hashes its words.

#include "program.h"

static const char text[] = "the quick brown fox jumps over the lazy dog while another fox watches "
                           "the brown dog sleep under the old oak tree near the river bank where "
                           "the water flows quietly towards the distant sea";
static const char *const words[] = {"river", "brown dog", "the dist", "xyz", "oak", "sea"};

NOINLINE static const char *find(const char *t, const char *w) {
    for (; *t; t++) {
        const char *a = t, *b = w;
        while (*b && *a == *b)
            a++, b++;
        if (!*b)
            return t;
    }
    return 0;
}

NOINLINE static u32 hash(const char *s) {
    u32 h = 5381;
    while (*s && *s != ' ')
        h = h * 33 ^ (u8)*s++;
    return h;
}

static int bins[64];
MAIN {
    for (;;) {
        u64 x = 0;
        for (int i = 0; i < 6; i++)
            x += (u64)find(text, words[i]);
        for (const char *p = text; *p;) {
            bins[hash(p) & 63]++;
            while (*p && *p != ' ')
                p++;
            if (*p)
                p++;
        }
        KEEP(x);
    }
}
