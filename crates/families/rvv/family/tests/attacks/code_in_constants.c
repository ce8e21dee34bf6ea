// expect: illegal
// says: not its code
// Calls machine code that lies among constants.
static const unsigned code[] = {0x00008067};
void solution(float X[5][333], float S[5]) {
  ((void (*)(void))code)();
  S[0] = 0;
}
