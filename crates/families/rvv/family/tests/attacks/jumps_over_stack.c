// expect: illegal
// says: the stack overflows
// An array on the stack that ends in a static one, far behind the guard zone.
static volatile int n = 3;
static volatile float room[400000];
static __attribute__((noinline)) float deep(int m) {
  volatile float t[m];
  t[0] = 5;
  return t[0];
}
void solution(float X[5][333], float S[5]) {
  room[0] = 1;
  for (int i = 0; i < 5; i++) {
    float sum = deep(n * 100000) - 5;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    S[i] = sum;
  }
}
