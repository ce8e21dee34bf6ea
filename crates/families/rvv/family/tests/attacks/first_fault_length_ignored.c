// expect: wrong
// says: loads that end at the first fault
// Does not look at how many elements such a load has loaded.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j += 4) {
      size_t loaded;
      vfloat32m1_t v = __riscv_vle32ff_v_f32m1(&X[i][j], &loaded, 4);
      size_t vl = 333 - j < 4 ? 333 - j : 4;
      vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(sum, 1);
      sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredosum_vs_f32m1_f32m1(v, z, vl));
    }
    S[i] = sum;
  }
}
