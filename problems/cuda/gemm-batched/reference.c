// The definition, in binary64.
void solution(float X[{{ B }}][{{ M }}][{{ K }}], float Y[{{ B }}][{{ K }}][{{ N }}], float Z[{{ B }}][{{ M }}][{{ N }}]) {
  for (int b = 0; b < {{ B }}; b++) {
    for (int i = 0; i < {{ M }}; i++) {
      double sum[{{ N }}] = {0};
      for (int k = 0; k < {{ K }}; k++) {
        for (int j = 0; j < {{ N }}; j++) {
          sum[j] += (double)X[b][i][k] * Y[b][k][j];
        }
      }
      for (int j = 0; j < {{ N }}; j++) {
        Z[b][i][j] = (float)sum[j];
      }
    }
  }
}
