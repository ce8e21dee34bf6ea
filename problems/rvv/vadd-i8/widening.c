// Products widened to 16 bits, and narrowed with rounding and saturation.
void solution(int8_t X[{{ N }}], int8_t Y[{{ N }}], int8_t Z[{{ N }}]) {
  for (size_t i = 0; i < {{ N }};) {
    size_t vl = __riscv_vsetvl_e8m4({{ N }} - i);
    vint16m8_t sum = __riscv_vwmul_vx_i16m8(__riscv_vle8_v_i8m4(&X[i], vl), 37, vl);
    sum = __riscv_vwmacc_vx_i16m8(sum, 21, __riscv_vle8_v_i8m4(&Y[i], vl), vl);
    __riscv_vse8_v_i8m4(&Z[i], __riscv_vnclip_wx_i8m4(sum, 5, __RISCV_VXRM_RNU, vl), vl);
    i += vl;
  }
}
