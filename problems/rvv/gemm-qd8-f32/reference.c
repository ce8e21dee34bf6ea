// The definition, with the scales in binary64.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int32_t zero[{{ M }}], float scale[{{ M }}], float weight[{{ N }}], float bias[{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      int32_t sum = 0;
      for (int k = 0; k < {{ K }}; k++) {
        sum += (A[i][k] - zero[i]) * B[k][j];
      }
      C[i][j] = (float)((double)sum * scale[i] * weight[j] + bias[j]);
    }
  }
}
