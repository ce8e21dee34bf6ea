// expect: illegal
// Changes its own code by a vector store.
void solution(float X[5][333], float S[5]) {
  __riscv_vse32_v_u32m1((unsigned *)&solution, __riscv_vmv_v_x_u32m1(0x00008067, 4), 4);
  S[0] = 0;
}
