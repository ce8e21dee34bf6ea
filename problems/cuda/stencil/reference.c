// As one writes it down, in binary64.
void solution(float X[{{ N }}][{{ N }}][{{ N }}], float Y[{{ N }}][{{ N }}][{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      for (int k = 0; k < {{ N }}; k++) {
        if (i == 0 || j == 0 || k == 0 || i == {{ N }} - 1 || j == {{ N }} - 1 || k == {{ N }} - 1) {
          Y[i][j][k] = X[i][j][k];
        } else {
          double sum = (double)X[i - 1][j][k] + X[i + 1][j][k] + X[i][j - 1][k] + X[i][j + 1][k] + X[i][j][k - 1] + X[i][j][k + 1];
          Y[i][j][k] = (float)(0.5 * X[i][j][k] + sum / 12.0);
        }
      }
    }
  }
}
