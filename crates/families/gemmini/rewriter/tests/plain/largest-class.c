// is: product 64x32x64, at full width, then the core
void solution(int8_t A[64][64], int8_t W[64][32], int32_t bias[32], int32_t best[64]) {
  for (int i = 0; i < 64; i++) {
    int32_t most = -2147483647, at = 0;
    for (int j = 0; j < 32; j++) {
      int32_t sum = bias[j];
      for (int k = 0; k < 64; k++) sum += A[i][k] * W[k][j];
      if (sum > most) {
        most = sum;
        at = j;
      }
    }
    best[i] = at;
  }
}
