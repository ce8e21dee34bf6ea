// is: product 32x32x32
void solution(uint8_t A[32][32], int8_t B[32][32], int8_t C[32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 32; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
}
