void solution(int32_t A[32][32], int32_t x[32], int32_t y[32]) {
  for (int i = 0; i < 32; i++) {
    int32_t sum = 0;
    for (int j = 0; j < 32; j++) sum += A[i][j] * x[j];
    y[i] = sum;
  }
}
