// rvv/maxpool-f32-30x70: neighbours as fields of segments.
void solution(float X[30][70], float Y[15][35]) {
  for (int i = 0; i < 15; i++) {
    size_t vl;
    for (size_t j = 0; j < 35; j += vl) {
      vl = __riscv_vsetvl_e32m2(35 - j);
      vfloat32m2x2_t upper = __riscv_vlseg2e32_v_f32m2x2(&X[2 * i][2 * j], vl);
      vfloat32m2x2_t lower = __riscv_vlseg2e32_v_f32m2x2(&X[2 * i + 1][2 * j], vl);
      vfloat32m2_t one = __riscv_vfmax_vv_f32m2(__riscv_vget_v_f32m2x2_f32m2(upper, 0), __riscv_vget_v_f32m2x2_f32m2(upper, 1), vl);
      vfloat32m2_t two = __riscv_vfmax_vv_f32m2(__riscv_vget_v_f32m2x2_f32m2(lower, 0), __riscv_vget_v_f32m2x2_f32m2(lower, 1), vl);
      __riscv_vse32_v_f32m2(&Y[i][j], __riscv_vfmax_vv_f32m2(one, two, vl), vl);
    }
  }
}
