// Dot products of rows and columns: strided loads, fused products, sums over registers.

#include "../program.h"
#include <riscv_vector.h>

static float a[32][32], b[32][32], c[32][32];

MAIN {
    for (int i = 0; i < 32 * 32; i++) {
        a[0][i] = 0.1f * i;
        b[0][i] = 50 - 0.1f * i;
    }
    for (;;) {
        for (int i = 0; i < 32; i++) {
            for (int j = 0; j < 32; j++) {
                vfloat32m1_t sums = __riscv_vfmv_v_f_f32m1(0, 4);
                for (int k = 0; k < 32; k += 4) {
                    vfloat32m1_t x = __riscv_vle32_v_f32m1(&a[i][k], 4);
                    vfloat32m1_t y = __riscv_vlse32_v_f32m1(&b[k][j], sizeof b[0], 4);
                    sums = __riscv_vfmacc_vv_f32m1(sums, x, y, 4);
                }
                vfloat32m1_t none = __riscv_vfmv_s_f_f32m1(0, 4);
                vfloat32m1_t sum = __riscv_vfredusum_vs_f32m1_f32m1(sums, none, 4);
                c[i][j] = __riscv_vfmv_f_s_f32m1_f32(sum);
            }
        }
        KEEP(a);
        KEEP(b);
        KEEP(c);
    }
}
