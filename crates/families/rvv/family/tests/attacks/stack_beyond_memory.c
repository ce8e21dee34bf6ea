// expect: illegal
// says: the stack overflows
// An array on the stack of more bytes than there is memory below it.
static volatile int n = 3;
void solution(float X[5][333], float S[5]) {
  volatile float t[n * 1000000];
  t[0] = 1;
  for (int i = 0; i < 5; i++) {
    float sum = t[0] - 1;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    S[i] = sum;
  }
}
