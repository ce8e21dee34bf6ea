// is: product 32x32x32, with ReLU, times 0.062515445
// Halves up: the same as halves to even with a factor that is a little larger.
void solution(int8_t A[32][32], int8_t B[32][32], int8_t C[32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 32; k++) sum += A[i][k] * B[k][j];
      if (sum < 0) sum = 0;
      sum = (sum + 8) >> 4;
      C[i][j] = sum > 127 ? 127 : sum;
    }
}
