// expect: ok
// An array whose length is known late, and which fits.
static volatile int n = 333;
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float t[8 * n], sum = 0;
    for (int j = 0; j < 333; j++) t[8 * j] = X[i][j];
    for (int j = 0; j < 333; j++) sum += t[8 * j];
    S[i] = sum;
  }
}
