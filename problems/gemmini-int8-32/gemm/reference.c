// The definition: sums in 32 bits, clamped to 8.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    int32_t sums[{{ N }}];
    for (int j = 0; j < {{ N }}; j++) {
      sums[j] = 0;
    }
    for (int k = 0; k < {{ K }}; k++) {
      for (int j = 0; j < {{ N }}; j++) {
        sums[j] += A[i][k] * B[k][j];
      }
    }
    for (int j = 0; j < {{ N }}; j++) {
      int32_t sum = sums[j];
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
  }
}
