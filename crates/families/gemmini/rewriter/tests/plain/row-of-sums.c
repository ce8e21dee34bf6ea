// is: product 64x48x80
void solution(int8_t A[64][80], int8_t B[80][48], int8_t C[64][48]) {
  for (int i = 0; i < 64; i++) {
    int32_t sums[48];
    for (int j = 0; j < 48; j++) {
      sums[j] = 0;
    }
    for (int k = 0; k < 80; k++) {
      for (int j = 0; j < 48; j++) {
        sums[j] += A[i][k] * B[k][j];
      }
    }
    for (int j = 0; j < 48; j++) {
      int32_t sum = sums[j];
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
  }
}
