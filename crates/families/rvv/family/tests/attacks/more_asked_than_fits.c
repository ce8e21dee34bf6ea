// expect: wrong
// Asks for more elements than fit and goes on as if it had got them.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j += 9) {
      size_t vl = __riscv_vsetvl_e32m1(9);
      vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(sum, 1);
      sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(__riscv_vle32_v_f32m1(&X[i][j], vl), z, vl));
    }
    S[i] = sum;
  }
}
