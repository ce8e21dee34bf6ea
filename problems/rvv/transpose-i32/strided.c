// Columns of X, loaded with a stride, are rows of Y.
void solution(int32_t X[{{ M }}][{{ N }}], int32_t Y[{{ N }}][{{ M }}]) {
  for (int j = 0; j < {{ N }}; j++) {
    for (size_t i = 0; i < {{ M }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ M }} - i);
      vint32m4_t column = __riscv_vlse32_v_i32m4(&X[i][j], {{ N }} * sizeof(int32_t), vl);
      __riscv_vse32_v_i32m4(&Y[j][i], column, vl);
      i += vl;
    }
  }
}
