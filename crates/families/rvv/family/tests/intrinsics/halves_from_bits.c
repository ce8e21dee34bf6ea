// rvv/dot-f16-3x333: numbers loaded as their bits, a sum for each lane in a full register, and a rest.
void solution(uint16_t X[3][333], uint16_t Y[3][333], float S[3]) {
  size_t most = __riscv_vsetvlmax_e16m2();
  for (int i = 0; i < 3; i++) {
    vfloat32m4_t sums = __riscv_vfmv_v_f_f32m4(0.0f, most);
    size_t j = 0;
    for (; j + most <= 333; j += most) {
      vfloat16m2_t a = __riscv_vreinterpret_v_u16m2_f16m2(__riscv_vle16_v_u16m2(&X[i][j], most));
      vfloat16m2_t b = __riscv_vreinterpret_v_u16m2_f16m2(__riscv_vle16_v_u16m2(Y[i] + j, most));
      sums = __riscv_vfwmacc_vv_f32m4(sums, a, b, most);
    }
    if (j < 333) {
      size_t vl = __riscv_vsetvl_e16m2(333 - j);
      vfloat16m2_t a = __riscv_vreinterpret_v_u16m2_f16m2(__riscv_vle16_v_u16m2(&X[i][j], vl));
      vfloat16m2_t b = __riscv_vreinterpret_v_u16m2_f16m2(__riscv_vle16_v_u16m2(Y[i] + j, vl));
      sums = __riscv_vfwmacc_vv_f32m4_tu(sums, a, b, vl);
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(sums, zero, most));
  }
}
