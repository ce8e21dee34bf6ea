// expect: illegal
// says: past the kernel's static variables
// Writes behind an array of its own, where nothing is.
static volatile int n = 200;
static volatile float room[64];
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    S[i] = sum;
  }
  room[n] = 1;
}
