// expect: ok
// Such a load reaches beyond the buffer, and what it finds there is not used.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (size_t j = 0; j < 333;) {
      size_t vl = __riscv_vsetvlmax_e32m1();
      vfloat32m1_t v = __riscv_vle32ff_v_f32m1(&X[i][j], &vl, vl);
      size_t left = 333 - j;
      size_t use = vl < left ? vl : left;
      vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(sum, 1);
      sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(v, z, use));
      j += use;
    }
    S[i] = sum;
  }
}
