// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], float W[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      sum += (double)X[i][j] * X[i][j];
    }
    double scale = 1.0 / sqrt(sum / {{ N }} + 1e-5);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (float)(X[i][j] * scale * W[j]);
    }
  }
}
