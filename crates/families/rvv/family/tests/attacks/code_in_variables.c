// expect: illegal
// says: not its code
// Calls machine code in a static variable, which a vector store has put there.
static unsigned code[4];
void solution(float X[5][333], float S[5]) {
  __riscv_vse32_v_u32m1(code, __riscv_vmv_v_x_u32m1(0x00008067, 4), 4);
  ((void (*)(void))code)();
  S[0] = 0;
}
