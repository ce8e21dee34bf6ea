// Strings, records, enumerations and calls of small functions.

#include "program.h"

typedef struct rec {
    struct rec *next;
    int kind;
    int number;
    char text[32];
    int extra[4];
} rec;

static rec a, b, *ga = &a, *gb = &b;
static int global_int, arr1[64], arr2[32][32];
static char c1, c2;

NOINLINE static int compare(const char *p, const char *q) {
    while (*p && *p == *q)
        p++, q++;
    return (u8)*p - (u8)*q;
}

NOINLINE static void copy(char *p, const char *q) {
    while ((*p++ = *q++))
        ;
}

NOINLINE static int fold(int x, int *out) {
    switch (x) {
    case 0:
        *out = 5;
        return 1;
    case 1:
        *out = global_int > 100 ? 0 : 3;
        return 2;
    case 2:
        *out = 1;
        return 3;
    case 3:
        return 4;
    default:
        *out = 2;
        return 0;
    }
}

NOINLINE static void p7(int x, int y, int *z) {
    *z = x + 2 + y;
}

NOINLINE static void arrays(int *p, int (*q)[32], int i, int j) {
    int l = i + 5;
    p[l] = j;
    p[l + 1] = p[l];
    p[l + 30] = l;
    for (int k = l; k <= l + 1; k++)
        q[l][k] = l;
    q[l][l - 1]++;
    q[l + 10][l] = p[l];
    global_int = 5;
}

NOINLINE static int chars(char x, char y) {
    char t = x;
    if (t != y)
        return 0;
    c1 = t;
    return 1;
}

NOINLINE static int strings(const char *p, const char *q) {
    int k = 2;
    char ch = 'A';
    while (k <= 2)
        if (chars(p[k], q[k + 1]) == 0) {
            ch = 'A';
            k++;
        } else
            k += 2;
    if (ch >= 'W' && ch < 'Z')
        k = 7;
    if (ch == 'R')
        return 1;
    if (compare(p, q) > 0) {
        global_int = k + 7;
        return 1;
    }
    return 0;
}

NOINLINE static void record(rec *p) {
    rec *n = p->next;
    *n = *p;
    p->number = 5;
    n->number = p->number;
    n->next = p->next;
    if (n->kind == 0) {
        n->number = 6;
        fold(p->kind, &n->kind);
        p7(n->number, 10, &n->number);
    } else
        *p = *n;
}

MAIN {
    char s1[32], s2[32];
    a.next = &b;
    a.kind = 0;
    copy(a.text, "SOME STRING OF A PROGRAM");
    for (int run = 0;; run++) {
        int i1 = 2, i2 = 3, i3, e;
        copy(s1, "A FIRST STRING, 1");
        copy(s2, "A FIRST STRING, 2");
        e = 1;
        int t = !strings(s1, s2);
        while (i1 < i2) {
            i3 = 5 * i1 - i2;
            p7(i1, i2, &i3);
            i1++;
        }
        arrays(arr1, arr2, i1, i3);
        record(ga);
        for (char c = 'A'; c <= 'C'; c++)
            if (e == chars(c, 'C'))
                fold(0, &e);
        i2 = i2 * i1;
        i1 = i2 / i3;
        i2 = 7 * (i2 - i3) - i1;
        KEEP(t + i2 + run);
    }
}
