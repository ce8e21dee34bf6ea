// A product of matrices by tiles that stay in registers: scalars times groups of four.

#include "../program.h"
#include <riscv_vector.h>

static float a[32][32], b[32][32], c[32][32];

MAIN {
    for (int i = 0; i < 32 * 32; i++) {
        a[0][i] = 0.1f * i;
        b[0][i] = 50 - 0.1f * i;
    }
    for (;;) {
        for (int i = 0; i < 32; i += 4) {
            for (int j = 0; j < 32; j += 16) {
                vfloat32m4_t s0 = __riscv_vfmv_v_f_f32m4(1, 16), s1 = s0, s2 = s0, s3 = s0;
                for (int k = 0; k < 32; k++) {
                    vfloat32m4_t row = __riscv_vle32_v_f32m4(&b[k][j], 16);
                    s0 = __riscv_vfmacc_vf_f32m4(s0, a[i][k], row, 16);
                    s1 = __riscv_vfmacc_vf_f32m4(s1, a[i + 1][k], row, 16);
                    s2 = __riscv_vfmacc_vf_f32m4(s2, a[i + 2][k], row, 16);
                    s3 = __riscv_vfmacc_vf_f32m4(s3, a[i + 3][k], row, 16);
                }
                __riscv_vse32_v_f32m4(&c[i][j], s0, 16);
                __riscv_vse32_v_f32m4(&c[i + 1][j], s1, 16);
                __riscv_vse32_v_f32m4(&c[i + 2][j], s2, 16);
                __riscv_vse32_v_f32m4(&c[i + 3][j], s3, 16);
            }
        }
        KEEP(a);
        KEEP(b);
        KEEP(c);
    }
}
