// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], float G[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      sum += (double)X[i][j] * X[i][j];
    }
    double scale = 1 / sqrt(sum / {{ N }} + (double)1e-6);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (float)(X[i][j] * scale * G[j]);
    }
  }
}
