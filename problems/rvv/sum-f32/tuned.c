// Four sums of four registers each, so that no addition waits for the one before.
void solution(float X[{{ M }}][{{ N }}], float S[{{ M }}]) {
  size_t most = __riscv_vsetvlmax_e32m4();
  for (int i = 0; i < {{ M }}; i++) {
    const float *x = X[i];
    size_t n = {{ N }};
    vfloat32m4_t a = __riscv_vfmv_v_f_f32m4(0.0f, most);
    vfloat32m4_t b = a, c = a, d = a;
    for (; n >= 4 * most; n -= 4 * most, x += 4 * most) {
      a = __riscv_vfadd_vv_f32m4(a, __riscv_vle32_v_f32m4(x, most), most);
      b = __riscv_vfadd_vv_f32m4(b, __riscv_vle32_v_f32m4(x + most, most), most);
      c = __riscv_vfadd_vv_f32m4(c, __riscv_vle32_v_f32m4(x + 2 * most, most), most);
      d = __riscv_vfadd_vv_f32m4(d, __riscv_vle32_v_f32m4(x + 3 * most, most), most);
    }
    a = __riscv_vfadd_vv_f32m4(a, b, most);
    c = __riscv_vfadd_vv_f32m4(c, d, most);
    for (; n > 0;) {
      size_t vl = __riscv_vsetvl_e32m4(n);
      a = __riscv_vfadd_vv_f32m4_tu(a, a, __riscv_vle32_v_f32m4(x, vl), vl);
      n -= vl;
      x += vl;
    }
    a = __riscv_vfadd_vv_f32m4(a, c, most);
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(a, zero, most));
  }
}
