// expect: ok
// says: right-here-only
// Takes the second register of a group for its elements from the fifth on, as it is at 128 bits.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float s = 0.0f;
    for (int j = 0; j < 328; j += 8) {
      vfloat32m2_t v = __riscv_vle32_v_f32m2(&X[i][j], 8);
      vfloat32m1_t a = __riscv_vget_v_f32m2_f32m1(v, 0), b = __riscv_vget_v_f32m2_f32m1(v, 1);
      vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(0.0f, 1);
      s += __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(__riscv_vfadd_vv_f32m1(a, b, 4), z, 4));
    }
    for (int j = 328; j < 333; j++) s += X[i][j];
    S[i] = s;
  }
}
