// The definition.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ N }}][{{ K }}], int32_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      int32_t sum = 0;
      for (int k = 0; k < {{ K }}; k++) {
        sum += A[i][k] * B[j][k];
      }
      C[i][j] = sum;
    }
  }
}
