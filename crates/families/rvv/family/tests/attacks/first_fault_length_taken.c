// expect: ok
// Takes what such a load has loaded, however little that is.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (size_t j = 0; j < 333;) {
      size_t left = 333 - j, vl;
      vfloat32m4_t v = __riscv_vle32ff_v_f32m4(&X[i][j], &vl, left < 16 ? left : 16);
      vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(sum, 1);
      sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(v, z, vl));
      j += vl;
    }
    S[i] = sum;
  }
}
