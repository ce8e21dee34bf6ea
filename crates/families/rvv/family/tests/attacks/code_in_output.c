// expect: illegal
// says: not its code
// Calls machine code that it writes to the output.
void solution(float X[5][333], float S[5]) {
  volatile unsigned *code = (volatile unsigned *)S;
  code[0] = 0x00008067;
  ((void (*)(void))S)();
}
