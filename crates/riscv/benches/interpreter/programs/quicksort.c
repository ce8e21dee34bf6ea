// Sorts by a function that is given by its address.

#include "program.h"

static int v[600];
typedef int (*cmp)(const void *, const void *);

NOINLINE static int less(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

NOINLINE static int more(const void *a, const void *b) {
    return less(b, a);
}

NOINLINE static void swap(char *a, char *b, size_t n) {
    for (size_t i = 0; i < n; i += 4) {
        int t = *(int *)(a + i);
        *(int *)(a + i) = *(int *)(b + i);
        *(int *)(b + i) = t;
    }
}

NOINLINE static void sort(char *p, size_t n, size_t w, cmp c) {
    while (n > 1) {
        char *pivot = p + (n / 2) * w;
        swap(p, pivot, w);
        size_t m = 0;
        for (size_t i = 1; i < n; i++)
            if (c(p + i * w, p) < 0)
                swap(p + ++m * w, p + i * w, w);
        swap(p, p + m * w, w);
        if (m < n - m - 1) {
            sort(p, m, w, c);
            p += (m + 1) * w;
            n -= m + 1;
        } else {
            sort(p + (m + 1) * w, n - m - 1, w, c);
            n = m;
        }
    }
}

MAIN {
    u32 s = 7;
    for (int run = 0;; run++) {
        for (int i = 0; i < 600; i++)
            v[i] = rnd(&s) & 0xffff;
        sort((char *)v, 600, 4, run & 1 ? less : more);
    }
}
