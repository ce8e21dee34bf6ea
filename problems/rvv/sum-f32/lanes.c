// A sum for each lane of eight registers, added up at the end.
void solution(float X[{{ M }}][{{ N }}], float S[{{ M }}]) {
  size_t most = __riscv_vsetvlmax_e32m8();
  for (int i = 0; i < {{ M }}; i++) {
    vfloat32m8_t sums = __riscv_vfmv_v_f_f32m8(0.0f, most);
    for (size_t j = 0; j < {{ N }};) {
      size_t vl = __riscv_vsetvl_e32m8({{ N }} - j);
      sums = __riscv_vfadd_vv_f32m8_tu(sums, sums, __riscv_vle32_v_f32m8(&X[i][j], vl), vl);
      j += vl;
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sums, zero, most));
  }
}
