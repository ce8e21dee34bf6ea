// The definition: sums in 32 bits, clamped to 8.
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
  for (int i = 0; i < 64; i++) {
    int32_t sums[64];
    for (int j = 0; j < 64; j++) {
      sums[j] = 0;
    }
    for (int k = 0; k < 64; k++) {
      for (int j = 0; j < 64; j++) {
        sums[j] += A[i][k] * B[k][j];
      }
    }
    for (int j = 0; j < 64; j++) {
      int32_t sum = sums[j];
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
  }
}
