// rvv/vadd-i8-1000: bounds by masks, and a counter outside of its loop.
void solution(int8_t X[1000], int8_t Y[1000], int8_t Z[1000]) {
  size_t i = 0;
  while (i < 1000) {
    size_t vl = __riscv_vsetvl_e8m1(1000 - i);
    vint8m1_t y = __riscv_vle8_v_i8m1(Y + i, vl);
    vint16m2_t sum = __riscv_vwmul_vx_i16m2(__riscv_vle8_v_i8m1(X + i, vl), 37, vl);
    sum = __riscv_vwmacc_vx_i16m2(sum, 21, y, vl);
    sum = __riscv_vsra_vx_i16m2(__riscv_vadd_vx_i16m2(sum, 16, vl), 5, vl);
    vbool8_t above = __riscv_vmsgt_vx_i16m2_b8(sum, 127, vl);
    vbool8_t below = __riscv_vmslt_vx_i16m2_b8(sum, -128, vl);
    vbool8_t outside = __riscv_vmor_mm_b8(above, below, vl);
    vint16m2_t bound = __riscv_vmerge_vxm_i16m2(__riscv_vmv_v_x_i16m2(-128, vl), 127, above, vl);
    sum = __riscv_vmerge_vvm_i16m2(sum, bound, outside, vl);
    __riscv_vse8_v_i8m1(Z + i, __riscv_vncvt_x_x_w_i8m1(sum, vl), vl);
    i += vl;
  }
}
