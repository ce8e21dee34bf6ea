// Rows of B times elements of A, widened to 16 bits and then added in 32.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int32_t bias[{{ N }}], float scale[{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e8m2({{ N }} - j);
      vint32m8_t sums = __riscv_vle32_v_i32m8(&bias[j], vl);
      for (int k = 0; k < {{ K }}; k++) {
        vint16m4_t products = __riscv_vwmul_vx_i16m4(__riscv_vle8_v_i8m2(&B[k][j], vl), A[i][k], vl);
        sums = __riscv_vwadd_wv_i32m8(sums, products, vl);
      }
      vfloat32m8_t scaled = __riscv_vfcvt_f_x_v_f32m8(sums, vl);
      scaled = __riscv_vfmul_vv_f32m8(scaled, __riscv_vle32_v_f32m8(&scale[j], vl), vl);
      vint16m4_t narrow = __riscv_vfncvt_x_f_w_i16m4(scaled, vl);
      __riscv_vse8_v_i8m2(&C[i][j], __riscv_vnclip_wx_i8m2(narrow, 0, __RISCV_VXRM_RDN, vl), vl);
      j += vl;
    }
  }
}
