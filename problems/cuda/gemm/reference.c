// The definition, in binary64.
void solution(float A[{{ M }}][{{ K }}], float B[{{ K }}][{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum[{{ N }}];
    for (int j = 0; j < {{ N }}; j++) {
      sum[j] = 0;
    }
    for (int k = 0; k < {{ K }}; k++) {
      for (int j = 0; j < {{ N }}; j++) {
        sum[j] += (double)A[i][k] * B[k][j];
      }
    }
    for (int j = 0; j < {{ N }}; j++) {
      C[i][j] = (float)sum[j];
    }
  }
}
