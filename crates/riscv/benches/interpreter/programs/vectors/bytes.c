// Adds bytes, rounds and saturates, and leaves out some by a mask.

#include "../program.h"
#include <riscv_vector.h>

static i8 a[4096], b[4096], c[4096];

MAIN {
    for (int i = 0; i < 4096; i++) {
        a[i] = i;
        b[i] = 3 * i;
    }
    for (;;) {
        for (size_t i = 0, vl; i < 4096; i += vl) {
            vl = __riscv_vsetvl_e8m2(4096 - i);
            vint8m2_t x = __riscv_vle8_v_i8m2(a + i, vl), y = __riscv_vle8_v_i8m2(b + i, vl);
            vint16m4_t wide = __riscv_vwmacc_vx_i16m4(__riscv_vwadd_vv_i16m4(x, y, vl), 3, x, vl);
            vbool4_t above = __riscv_vmsgt_vx_i8m2_b4(x, 16, vl);
            vint8m2_t narrow = __riscv_vnclip_wx_i8m2(wide, 2, __RISCV_VXRM_RNU, vl);
            __riscv_vse8_v_i8m2(c + i, __riscv_vmax_vx_i8m2_mu(above, x, narrow, 0, vl), vl);
        }
        KEEP(a);
        KEEP(b);
        KEEP(c);
    }
}
