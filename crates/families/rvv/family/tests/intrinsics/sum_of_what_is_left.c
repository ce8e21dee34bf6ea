// rvv/sum-f32-5x333: a loop that counts what is left down, and a pointer along it.
static float total(const float *x, size_t n) {
  size_t most = __riscv_vsetvlmax_e32m8();
  vfloat32m8_t sums = __riscv_vfmv_v_f_f32m8(0.0f, most);
  for (size_t vl; n > 0; n -= vl, x += vl) {
    vl = __riscv_vsetvl_e32m8(n);
    sums = __riscv_vfadd_vv_f32m8_tu(sums, sums, __riscv_vle32_v_f32m8(x, vl), vl);
  }
  vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
  return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sums, zero, most));
}

void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    S[i] = total(X[i], 333);
  }
}
