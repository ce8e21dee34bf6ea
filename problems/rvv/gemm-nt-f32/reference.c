// The definition, with sums in binary64.
void solution(float A[{{ M }}][{{ K }}], float B[{{ N }}][{{ K }}], float C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      double sum = 0.0;
      for (int k = 0; k < {{ K }}; k++) {
        sum += (double)A[i][k] * B[j][k];
      }
      C[i][j] = (float)sum;
    }
  }
}
