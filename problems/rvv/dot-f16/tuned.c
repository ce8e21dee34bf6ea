// Products widened to binary32 and added to two sums by turns, all of four registers.
void solution(uint16_t X[{{ M }}][{{ N }}], uint16_t Y[{{ M }}][{{ N }}], float S[{{ M }}]) {
  size_t most = __riscv_vsetvlmax_e16m2();
  for (int i = 0; i < {{ M }}; i++) {
    const _Float16 *x = (const _Float16 *)X[i];
    const _Float16 *y = (const _Float16 *)Y[i];
    size_t n = {{ N }};
    vfloat32m4_t a = __riscv_vfmv_v_f_f32m4(0.0f, most);
    vfloat32m4_t b = a;
    for (; n >= 2 * most; n -= 2 * most, x += 2 * most, y += 2 * most) {
      vfloat16m2_t x0 = __riscv_vle16_v_f16m2(x, most);
      vfloat16m2_t y0 = __riscv_vle16_v_f16m2(y, most);
      vfloat16m2_t x1 = __riscv_vle16_v_f16m2(x + most, most);
      vfloat16m2_t y1 = __riscv_vle16_v_f16m2(y + most, most);
      a = __riscv_vfwmacc_vv_f32m4(a, x0, y0, most);
      b = __riscv_vfwmacc_vv_f32m4(b, x1, y1, most);
    }
    for (; n > 0;) {
      size_t vl = __riscv_vsetvl_e16m2(n);
      a = __riscv_vfwmacc_vv_f32m4_tu(a, __riscv_vle16_v_f16m2(x, vl), __riscv_vle16_v_f16m2(y, vl), vl);
      n -= vl;
      x += vl;
      y += vl;
    }
    a = __riscv_vfadd_vv_f32m4(a, b, most);
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(a, zero, most));
  }
}
