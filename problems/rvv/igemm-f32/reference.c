// The definition, with sums in binary64.
void solution(float X[{{ R }}][{{ K }}], uint32_t I[{{ M }}][{{ P }}], float W[{{ P }}][{{ K }}][{{ N }}], float bias[{{ N }}], float C[{{ M }}][{{ N }}]) {
  for (int m = 0; m < {{ M }}; m++) {
    for (int n = 0; n < {{ N }}; n++) {
      double sum = bias[n];
      for (int p = 0; p < {{ P }}; p++) {
        for (int k = 0; k < {{ K }}; k++) {
          sum += (double)X[I[m][p]][k] * W[p][k][n];
        }
      }
      C[m][n] = (float)sum;
    }
  }
}
