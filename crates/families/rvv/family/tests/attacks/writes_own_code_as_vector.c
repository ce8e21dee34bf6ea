// expect: illegal
// Changes its own code by a vector store.
void solution(float X[5][333], float S[5]) {
  __riscv_vse16_v_u16m1((unsigned short *)&solution, __riscv_vmv_v_x_u16m1(0x8082, 4), 4);
  S[0] = 0;
}
