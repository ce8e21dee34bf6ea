// Tiles of four rows and four registers of columns, whose sums stay in registers.
void solution(float A[{{ M }}][{{ K }}], float B[{{ K }}][{{ N }}], float C[{{ M }}][{{ N }}]) {
  int i = 0;
  for (; i + 4 <= {{ M }}; i += 4) {
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      vfloat32m4_t c0 = __riscv_vfmv_v_f_f32m4(0.0f, vl);
      vfloat32m4_t c1 = __riscv_vfmv_v_f_f32m4(0.0f, vl);
      vfloat32m4_t c2 = __riscv_vfmv_v_f_f32m4(0.0f, vl);
      vfloat32m4_t c3 = __riscv_vfmv_v_f_f32m4(0.0f, vl);
      for (int k = 0; k < {{ K }}; k++) {
        vfloat32m4_t b = __riscv_vle32_v_f32m4(&B[k][j], vl);
        c0 = __riscv_vfmacc_vf_f32m4(c0, A[i + 0][k], b, vl);
        c1 = __riscv_vfmacc_vf_f32m4(c1, A[i + 1][k], b, vl);
        c2 = __riscv_vfmacc_vf_f32m4(c2, A[i + 2][k], b, vl);
        c3 = __riscv_vfmacc_vf_f32m4(c3, A[i + 3][k], b, vl);
      }
      __riscv_vse32_v_f32m4(&C[i + 0][j], c0, vl);
      __riscv_vse32_v_f32m4(&C[i + 1][j], c1, vl);
      __riscv_vse32_v_f32m4(&C[i + 2][j], c2, vl);
      __riscv_vse32_v_f32m4(&C[i + 3][j], c3, vl);
      j += vl;
    }
  }
  for (; i < {{ M }}; i++) {
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N }} - j);
      vfloat32m4_t c0 = __riscv_vfmv_v_f_f32m4(0.0f, vl);
      for (int k = 0; k < {{ K }}; k++) {
        vfloat32m4_t b = __riscv_vle32_v_f32m4(&B[k][j], vl);
        c0 = __riscv_vfmacc_vf_f32m4(c0, A[i + 0][k], b, vl);
      }
      __riscv_vse32_v_f32m4(&C[i + 0][j], c0, vl);
      j += vl;
    }
  }
}
