// rvv/vadd-i8-1000: pointers that move in the middle, as in libraries of layers; no element is left at the end.
void solution(int8_t X[1000], int8_t Y[1000], int8_t Z[1000]) {
  const int8_t *a = X;
  const int8_t *b = Y;
  int8_t *out = Z;
  size_t n = 1000;
  do {
    const size_t vl = __riscv_vsetvl_e8m2(n);
    n -= vl;
    vint16m4_t x = __riscv_vsext_vf2_i16m4(__riscv_vle8_v_i8m2(a, vl), vl);
    a += vl;
    vint16m4_t y = __riscv_vsext_vf2_i16m4(__riscv_vle8_v_i8m2(b, vl), vl);
    b += vl;
    vint32m8_t sum = __riscv_vwmul_vx_i32m8(x, (int16_t)37, vl);
    sum = __riscv_vwmacc_vx_i32m8(sum, (int16_t)21, y, vl);
    vint16m4_t half = __riscv_vnclip_wx_i16m4(sum, 5, __RISCV_VXRM_RNU, vl);
    vint8m2_t narrow = __riscv_vnclip_wx_i8m2(half, 0, __RISCV_VXRM_RDN, vl);
    narrow = __riscv_vmin_vx_i8m2(__riscv_vmax_vx_i8m2(narrow, -128, vl), 127, vl);
    __riscv_vse8_v_i8m2(out, narrow, vl);
    out += vl;
  } while (n != 0);
}
