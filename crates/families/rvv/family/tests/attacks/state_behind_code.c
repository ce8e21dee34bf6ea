// expect: illegal
// says: behind the program's code
// Keeps numbers in what is left of the last page of its code.
void solution(float X[5][333], float S[5]) {
  volatile float *p = (volatile float *)(((unsigned long)&solution | 4095) + 1 - 64);
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    p[i] = sum;
    S[i] = p[i];
  }
}
