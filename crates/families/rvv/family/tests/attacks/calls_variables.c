// expect: illegal
// says: goes on in the kernel's static variables
// Calls an array of its own.
static volatile unsigned room[4] = {0x8082, 0x8082, 0x8082, 0x8082};
static void (*volatile function)(void) = (void (*)(void))room;
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    S[i] = sum;
  }
  function();
}
