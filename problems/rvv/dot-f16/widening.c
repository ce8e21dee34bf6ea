// Products widened to binary32 and summed lane by lane.
void solution(uint16_t X[{{ M }}][{{ N }}], uint16_t Y[{{ M }}][{{ N }}], float S[{{ M }}]) {
  size_t most = __riscv_vsetvlmax_e32m8();
  for (int i = 0; i < {{ M }}; i++) {
    const _Float16 *x = (const _Float16 *)X[i];
    const _Float16 *y = (const _Float16 *)Y[i];
    vfloat32m8_t sums = __riscv_vfmv_v_f_f32m8(0.0f, most);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e16m4({{ N }} - j);
      vfloat16m4_t a = __riscv_vle16_v_f16m4(&x[j], vl);
      vfloat16m4_t b = __riscv_vle16_v_f16m4(&y[j], vl);
      sums = __riscv_vfwmacc_vv_f32m8_tu(sums, a, b, vl);
      j += vl;
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sums, zero, most));
  }
}
