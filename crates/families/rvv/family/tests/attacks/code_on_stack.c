// expect: illegal
// says: not its code
// Calls machine code that it writes to the stack.
void solution(float X[5][333], float S[5]) {
  volatile unsigned code[2] = {0x00008067, 0x00008067};
  ((void (*)(void))code)();
  S[0] = 0;
}
