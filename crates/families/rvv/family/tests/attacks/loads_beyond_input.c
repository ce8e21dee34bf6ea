// expect: illegal
// Loads whole registers up to the end of the input and beyond.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j += 4) {
      vfloat32m1_t v = __riscv_vle32_v_f32m1(&X[i][j], 4);
      vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(sum, 1);
      size_t vl = 333 - j < 4 ? 333 - j : 4;
      sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(v, z, vl));
    }
    S[i] = sum;
  }
}
