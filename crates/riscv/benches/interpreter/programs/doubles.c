// A product of matrices in double precision, unrolled by the compiler.

#include "program.h"

#define N 20
static double a[N][N], b[N][N], c[N][N];
MAIN {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i + j * 0.5, b[i][j] = i - j * 0.1;
    for (;;) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double s = 0;
                for (int k = 0; k < N; k++)
                    s += a[i][k] * b[k][j];
                c[i][j] = s;
            }
        KEEP(c);
    }
}
