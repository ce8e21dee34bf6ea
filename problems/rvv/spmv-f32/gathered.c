// Elements of X gathered by indices, a row at a time.
void solution(float V[{{ M }}][{{ K }}], uint32_t I[{{ M }}][{{ K }}], float X[{{ N }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    size_t most = __riscv_vsetvlmax_e32m4();
    vfloat32m4_t sums = __riscv_vfmv_v_f_f32m4(0.0f, most);
    for (size_t k = 0; k < {{ K }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ K }} - k);
      vuint32m4_t places = __riscv_vsll_vx_u32m4(__riscv_vle32_v_u32m4(&I[i][k], vl), 2, vl);
      vfloat32m4_t x = __riscv_vluxei32_v_f32m4(X, places, vl);
      sums = __riscv_vfmacc_vv_f32m4_tu(sums, x, __riscv_vle32_v_f32m4(&V[i][k], vl), vl);
      k += vl;
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    Y[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(sums, zero, most));
  }
}
