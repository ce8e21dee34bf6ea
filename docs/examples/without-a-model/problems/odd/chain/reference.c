// The definition: sums in 32 bits, clamped to 8.
static int clamped(int32_t sum) {
  return sum > 127 ? 127 : sum < -128 ? -128 : sum;
}

void solution(int8_t A[128][96], int8_t B[96][64], int8_t D[64][80], int8_t C[128][80]) {
  for (int i = 0; i < 128; i++) {
    int8_t T[64];
    for (int j = 0; j < 64; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 96; k++) {
        sum += A[i][k] * B[k][j];
      }
      T[j] = clamped(sum);
    }
    for (int j = 0; j < 80; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 64; k++) {
        sum += T[k] * D[k][j];
      }
      C[i][j] = clamped(sum);
    }
  }
}
