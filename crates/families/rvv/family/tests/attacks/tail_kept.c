// expect: wrong
// Relies on the tail of a sum, which its form does not keep.
static inline void sum_rows(float X[5][333], float S[5]) {
  size_t most = __riscv_vsetvlmax_e32m8();
  for (int i = 0; i < 5; i++) {
    vfloat32m8_t s = __riscv_vfmv_v_f_f32m8(0.0f, most);
    for (size_t j = 0; j < 333;) {
      size_t vl = __riscv_vsetvl_e32m8(333 - j);
      s = __riscv_vfadd_vv_f32m8(s, __riscv_vle32_v_f32m8(&X[i][j], vl), vl);
      j += vl;
    }
    vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(s, z, most));
  }
}

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
}
