// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], float G[{{ N }}], float B[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double mean = 0.0;
    for (int j = 0; j < {{ N }}; j++) {
      mean += X[i][j];
    }
    mean /= {{ N }};
    double variance = 0.0;
    for (int j = 0; j < {{ N }}; j++) {
      variance += (X[i][j] - mean) * (X[i][j] - mean);
    }
    variance /= {{ N }};
    double scale = 1.0 / sqrt(variance + 1e-5);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (float)((X[i][j] - mean) * scale * G[j] + B[j]);
    }
  }
}
