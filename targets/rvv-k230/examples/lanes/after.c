size_t most = __riscv_vsetvlmax_e32m8();
vfloat32m8_t sums = __riscv_vfmv_v_f_f32m8(0.0f, most);
for (size_t i = 0; i < 3000;) {
  size_t vl = __riscv_vsetvl_e32m8(3000 - i);
  sums = __riscv_vfadd_vv_f32m8_tu(sums, sums, __riscv_vle32_v_f32m8(&X[i], vl), vl);
  i += vl;
}
vfloat32m1_t start = __riscv_vfmv_s_f_f32m1(0.0f, 1);
float sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sums, start, most));
