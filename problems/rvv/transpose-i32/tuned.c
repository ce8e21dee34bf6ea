// Blocks of 16 rows and 16 columns, whose lines stay in the cache; four rows of a block are loaded at
// unit stride, and each of their columns is stored as a segment of four numbers.
static inline void four(int32_t (*X)[{{ N }}], int32_t (*Y)[{{ M }}], int i, size_t j, size_t vl) {
  vint32m2_t a = __riscv_vle32_v_i32m2(&X[i][j], vl);
  vint32m2_t b = __riscv_vle32_v_i32m2(&X[i + 1][j], vl);
  vint32m2_t c = __riscv_vle32_v_i32m2(&X[i + 2][j], vl);
  vint32m2_t d = __riscv_vle32_v_i32m2(&X[i + 3][j], vl);
  __riscv_vssseg4e32_v_i32m2x4(&Y[j][i], {{ M }} * sizeof(int32_t), __riscv_vcreate_v_i32m2x4(a, b, c, d), vl);
}

void solution(int32_t X[{{ M }}][{{ N }}], int32_t Y[{{ N }}][{{ M }}]) {
  for (int rows = 0; rows < {{ M }}; rows += 16) {
    int end = rows + 16 < {{ M }} ? rows + 16 : {{ M }};
    for (size_t columns = 0; columns < {{ N }}; columns += 16) {
      size_t stop = columns + 16 < {{ N }} ? columns + 16 : {{ N }};
      for (size_t j = columns; j < stop;) {
        size_t vl = __riscv_vsetvl_e32m2(stop - j);
        int i = rows;
        for (; i + 4 <= end; i += 4) {
          four(X, Y, i, j, vl);
        }
        for (; i < end; i++) {
          __riscv_vsse32_v_i32m2(&Y[j][i], {{ M }} * sizeof(int32_t), __riscv_vle32_v_i32m2(&X[i][j], vl), vl);
        }
        j += vl;
      }
    }
  }
}
