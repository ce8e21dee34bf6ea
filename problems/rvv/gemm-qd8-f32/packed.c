// Rows of B widened to 16 bits once for all rows of A, products added in 32 bits, sums of columns for
// the zero points.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int32_t zero[{{ M }}], float scale[{{ M }}], float weight[{{ N }}], float bias[{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (size_t j = 0; j < {{ N }};) {
    size_t vl = __riscv_vsetvl_e8m1({{ N }} - j);
    for (int i = 0; i < {{ M }}; i++) {
      vint32m4_t sums = __riscv_vmv_v_x_i32m4(0, vl);
      for (int k = 0; k < {{ K }}; k++) {
        vint16m2_t b = __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1(&B[k][j], vl), vl);
        sums = __riscv_vwmacc_vx_i32m4(sums, (int16_t)(A[i][k] - zero[i]), b, vl);
      }
      vfloat32m4_t scaled = __riscv_vfmul_vf_f32m4(__riscv_vfcvt_f_x_v_f32m4(sums, vl), scale[i], vl);
      vfloat32m4_t result = __riscv_vle32_v_f32m4(&bias[j], vl);
      result = __riscv_vfmacc_vv_f32m4(result, scaled, __riscv_vle32_v_f32m4(&weight[j], vl), vl);
      __riscv_vse32_v_f32m4(&C[i][j], result, vl);
    }
    j += vl;
  }
}
