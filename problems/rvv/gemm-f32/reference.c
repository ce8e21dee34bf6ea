// The definition, with sums in binary64.
void solution(float A[{{ M }}][{{ K }}], float B[{{ K }}][{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sums[{{ N }}];
    for (int j = 0; j < {{ N }}; j++) {
      sums[j] = 0.0;
    }
    for (int k = 0; k < {{ K }}; k++) {
      for (int j = 0; j < {{ N }}; j++) {
        sums[j] += (double)A[i][k] * B[k][j];
      }
    }
    for (int j = 0; j < {{ N }}; j++) {
      C[i][j] = (float)sums[j];
    }
  }
}
