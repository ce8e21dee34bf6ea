float sum = 0.0f;
for (size_t i = 0; i < 3000;) {
  size_t vl = __riscv_vsetvl_e32m8(3000 - i);
  vfloat32m1_t start = __riscv_vfmv_s_f_f32m1(sum, 1);
  vfloat32m8_t x = __riscv_vle32_v_f32m8(&X[i], vl);
  sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(x, start, vl));
  i += vl;
}
