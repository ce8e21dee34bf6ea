// Moves bodies that attract each other: divisions and roots in double precision.

#include "program.h"

typedef struct {
    double x[3], v[3], m;
} body;

static body b[5];
MAIN {
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++)
            b[i].x[k] = i * 1.5 + k * 0.3 - (i * k) * 0.2, b[i].v[k] = 0.01 * (i - k);
        b[i].m = 0.01 * (i + 1);
    }
    for (;;) {
        for (int i = 0; i < 5; i++)
            for (int j = i + 1; j < 5; j++) {
                double d[3], r = 0.01;
                for (int k = 0; k < 3; k++) {
                    d[k] = b[i].x[k] - b[j].x[k];
                    r += d[k] * d[k];
                }
                double f = 0.001 / (r * __builtin_sqrt(r));
                for (int k = 0; k < 3; k++) {
                    b[i].v[k] -= d[k] * b[j].m * f;
                    b[j].v[k] += d[k] * b[i].m * f;
                }
            }
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 3; k++)
                b[i].x[k] += 0.001 * b[i].v[k];
        KEEP(b);
    }
}
