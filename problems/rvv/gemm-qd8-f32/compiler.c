// Sums of a row of C side by side, to which four rows of B are added at a time, so that the compiler uses vectors.
void solution(int8_t A[restrict {{ M }}][{{ K }}], int8_t B[restrict {{ K }}][{{ N }}], int32_t zero[restrict {{ M }}], float scale[restrict {{ M }}], float weight[restrict {{ N }}], float bias[restrict {{ N }}], float C[restrict {{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    int32_t sums[{{ N }}];
    for (int j = 0; j < {{ N }}; j++) {
      sums[j] = 0;
    }
    int k = 0;
    for (; k + 4 <= {{ K }}; k += 4) {
      int16_t a = A[i][k] - zero[i], b = A[i][k + 1] - zero[i];
      int16_t c = A[i][k + 2] - zero[i], d = A[i][k + 3] - zero[i];
      for (int j = 0; j < {{ N }}; j++) {
        sums[j] += a * B[k][j] + b * B[k + 1][j] + c * B[k + 2][j] + d * B[k + 3][j];
      }
    }
    for (; k < {{ K }}; k++) {
      int16_t a = A[i][k] - zero[i];
      for (int j = 0; j < {{ N }}; j++) {
        sums[j] += a * B[k][j];
      }
    }
    for (int j = 0; j < {{ N }}; j++) {
      C[i][j] = (float)sums[j] * scale[i] * weight[j] + bias[j];
    }
  }
}
