// expect: ok
// says: right-here-only
// Slides in what lies behind four elements, which is zero at 128 bits only.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    vfloat32m1_t s = __riscv_vfmv_v_f_f32m1(0, 4);
    for (int j = 0; j < 332; j += 4) s = __riscv_vfadd_vv_f32m1(s, __riscv_vle32_v_f32m1(&X[i][j], 4), 4);
    float lanes[4];
    __riscv_vse32_v_f32m1(lanes, s, 4);
    float zero = __riscv_vfmv_f_s_f32m1_f32(__riscv_vslidedown_vx_f32m1(s, 4, 4));
    S[i] = zero + lanes[0] + lanes[1] + lanes[2] + lanes[3] + X[i][332];
  }
}
