// Sums of a row of C side by side, to which four rows of W are added at a time, so that the compiler uses vectors.
void solution(float X[restrict {{ R }}][{{ K }}], uint32_t I[restrict {{ M }}][{{ P }}], float W[restrict {{ P }}][{{ K }}][{{ N }}], float bias[restrict {{ N }}], float C[restrict {{ M }}][{{ N }}]) {
  for (int m = 0; m < {{ M }}; m++) {
    for (int n = 0; n < {{ N }}; n++) {
      C[m][n] = bias[n];
    }
    for (int p = 0; p < {{ P }}; p++) {
      const float *x = X[I[m][p]];
      int k = 0;
      for (; k + 4 <= {{ K }}; k += 4) {
        for (int n = 0; n < {{ N }}; n++) {
          float two = x[k] * W[p][k][n] + x[k + 1] * W[p][k + 1][n];
          float more = x[k + 2] * W[p][k + 2][n] + x[k + 3] * W[p][k + 3][n];
          C[m][n] += two + more;
        }
      }
      for (; k < {{ K }}; k++) {
        for (int n = 0; n < {{ N }}; n++) {
          C[m][n] += x[k] * W[p][k][n];
        }
      }
    }
  }
}
