// The definition.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int32_t bias[{{ N }}], float scale[{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      int32_t sum = bias[j];
      for (int k = 0; k < {{ K }}; k++) {
        sum += A[i][k] * B[k][j];
      }
      float scaled = (float)sum * scale[j];
      scaled = scaled > 127.0f ? 127.0f : scaled < -128.0f ? -128.0f : scaled;
      // Adding this number rounds to the nearest whole number, half to even.
      float moved = scaled + 12582912.0f;
      C[i][j] = (int8_t)(moved - 12582912.0f);
    }
  }
}
