// expect: ok
// Takes as many steps for a vector as its length says.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float s = 0.0f;
    for (size_t j = 0, vl; j < 333; j += vl) {
      vl = __riscv_vsetvl_e32m4(333 - j);
      vfloat32m4_t v = __riscv_vle32_v_f32m4(&X[i][j], vl);
      for (size_t k = 0; k < vl; k += 15) {
        size_t most = vl - k < 15 ? vl - k : 15;
        vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(0.0f, 1);
        vfloat32m4_t part = __riscv_vslidedown_vx_f32m4(v, k, most);
        s += __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(part, z, most));
      }
    }
    S[i] = s;
  }
}
