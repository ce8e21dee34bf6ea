// expect: illegal
// says: registers of 256 bits
// Asks for all elements of a register and takes them to be four.
void solution(float X[5][333], float S[5]) {
  size_t vl = __riscv_vsetvlmax_e32m1();
  for (int i = 0; i < 5; i++) {
    vfloat32m1_t s = __riscv_vfmv_v_f_f32m1(0, vl);
    int j = 0;
    for (; j + 4 <= 332; j += 4) s = __riscv_vfadd_vv_f32m1(s, __riscv_vle32_v_f32m1(&X[i][j], vl), vl);
    float lanes[32];
    __riscv_vse32_v_f32m1(lanes, s, vl);
    S[i] = lanes[0] + lanes[1] + lanes[2] + lanes[3] + X[i][332];
  }
}
