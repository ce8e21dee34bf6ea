// expect: illegal
// Changes its own code.
void solution(float X[5][333], float S[5]) {
  *(volatile unsigned *)((unsigned long)&solution & ~3ul) = 0x00008067;
  S[0] = 0;
}
