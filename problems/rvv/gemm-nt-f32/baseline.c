// As one writes it down.
void solution(float A[{{ M }}][{{ K }}], float B[{{ N }}][{{ K }}], float C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      float sum = 0.0f;
      for (int k = 0; k < {{ K }}; k++) {
        sum += A[i][k] * B[j][k];
      }
      C[i][j] = sum;
    }
  }
}
