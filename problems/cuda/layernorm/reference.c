// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], float W[{{ N }}], float B[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double mean = 0, square = 0;
    for (int j = 0; j < {{ N }}; j++) {
      mean += X[i][j];
    }
    mean /= {{ N }};
    for (int j = 0; j < {{ N }}; j++) {
      square += (X[i][j] - mean) * (X[i][j] - mean);
    }
    double scale = 1.0 / sqrt(square / {{ N }} + 1e-5);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (float)((X[i][j] - mean) * scale * W[j] + B[j]);
    }
  }
}
