// expect: illegal|crashed
// Loads from address 0.
void solution(float X[5][333], float S[5]) {
  float *volatile nowhere = 0;
  S[0] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vle32_v_f32m1(nowhere, 4));
}
