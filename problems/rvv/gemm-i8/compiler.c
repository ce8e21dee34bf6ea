// Sums of a row of C side by side, to which four rows of B are added at a time, so that the compiler uses vectors.
void solution(int8_t A[restrict {{ M }}][{{ K }}], int8_t B[restrict {{ K }}][{{ N }}], int32_t bias[restrict {{ N }}], float scale[restrict {{ N }}], int8_t C[restrict {{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    int32_t sums[{{ N }}];
    for (int j = 0; j < {{ N }}; j++) {
      sums[j] = bias[j];
    }
    int k = 0;
    for (; k + 4 <= {{ K }}; k += 4) {
      for (int j = 0; j < {{ N }}; j++) {
        int32_t two = A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];
        int32_t more = A[i][k + 2] * B[k + 2][j] + A[i][k + 3] * B[k + 3][j];
        sums[j] += two + more;
      }
    }
    for (; k < {{ K }}; k++) {
      for (int j = 0; j < {{ N }}; j++) {
        sums[j] += A[i][k] * B[k][j];
      }
    }
    for (int j = 0; j < {{ N }}; j++) {
      float scaled = (float)sums[j] * scale[j];
      scaled = scaled > 127.0f ? 127.0f : scaled < -128.0f ? -128.0f : scaled;
      // Adding this number rounds to the nearest whole number, half to even.
      float moved = scaled + 12582912.0f;
      C[i][j] = (int8_t)(moved - 12582912.0f);
    }
  }
}
