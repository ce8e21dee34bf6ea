// Eight registers at a time: squares summed lane by lane, then the scale.
void solution(float X[{{ M }}][{{ N }}], float G[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  size_t most = __riscv_vsetvlmax_e32m8();
  for (int i = 0; i < {{ M }}; i++) {
    vfloat32m8_t sums = __riscv_vfmv_v_f_f32m8(0.0f, most);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m8({{ N }} - j);
      vfloat32m8_t x = __riscv_vle32_v_f32m8(&X[i][j], vl);
      sums = __riscv_vfmacc_vv_f32m8_tu(sums, x, x, vl);
      j += vl;
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    float sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sums, zero, most));
    float scale = 1.0f / sqrtf(sum / {{ N }} + 1e-6f);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m8({{ N }} - j);
      vfloat32m8_t x = __riscv_vfmul_vf_f32m8(__riscv_vle32_v_f32m8(&X[i][j], vl), scale, vl);
      __riscv_vse32_v_f32m8(&Y[i][j], __riscv_vfmul_vv_f32m8(x, __riscv_vle32_v_f32m8(&G[j], vl), vl), vl);
      j += vl;
    }
  }
}
