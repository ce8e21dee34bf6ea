// Both columns of the windows with a stride.
void solution(float X[{{ M }}][{{ N }}], float Y[{{ M // 2 }}][{{ N // 2 }}]) {
  for (int i = 0; i < {{ M // 2 }}; i++) {
    for (size_t j = 0; j < {{ N // 2 }};) {
      size_t vl = __riscv_vsetvl_e32m4({{ N // 2 }} - j);
      vfloat32m4_t top = __riscv_vlse32_v_f32m4(&X[2 * i][2 * j], 8, vl);
      top = __riscv_vfmax_vv_f32m4(top, __riscv_vlse32_v_f32m4(&X[2 * i][2 * j + 1], 8, vl), vl);
      top = __riscv_vfmax_vv_f32m4(top, __riscv_vlse32_v_f32m4(&X[2 * i + 1][2 * j], 8, vl), vl);
      top = __riscv_vfmax_vv_f32m4(top, __riscv_vlse32_v_f32m4(&X[2 * i + 1][2 * j + 1], 8, vl), vl);
      __riscv_vse32_v_f32m4(&Y[i][j], top, vl);
      j += vl;
    }
  }
}
