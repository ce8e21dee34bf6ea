// Builds a binary tree and walks it, by recursion and by loops.

#include "program.h"

typedef struct node {
    struct node *l, *r;
    i32 key, n;
} node;

static node pool[512];
static int used;

NOINLINE static node *insert(node *t, int key) {
    if (!t) {
        t = &pool[used++];
        t->l = t->r = 0;
        t->key = key;
        t->n = 1;
        return t;
    }
    if (key < t->key)
        t->l = insert(t->l, key);
    else if (key > t->key)
        t->r = insert(t->r, key);
    else
        t->n++;
    return t;
}

NOINLINE static i64 walk(const node *t) {
    return t ? walk(t->l) + t->key * (i64)t->n + walk(t->r) : 0;
}

NOINLINE static int depth(const node *t) {
    if (!t)
        return 0;
    int l = depth(t->l), r = depth(t->r);
    return (l > r ? l : r) + 1;
}

MAIN {
    u32 s = 9;
    for (;;) {
        node *t = 0;
        used = 0;
        for (int i = 0; i < 300; i++)
            t = insert(t, rnd(&s) & 4095);
        i64 x = walk(t) + depth(t);
        u32 q = 1;
        for (int i = 0; i < 100; i++) {
            int k = rnd(&q) & 4095;
            const node *p = t;
            while (p && p->key != k)
                p = k < p->key ? p->l : p->r;
            x += p != 0;
        }
        KEEP(x);
    }
}
