// As one writes it down.
void solution(float X[{{ M }}][{{ N }}], float G[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float sum = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      sum += X[i][j] * X[i][j];
    }
    float scale = 1.0f / sqrtf(sum / {{ N }} + 1e-6f);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = X[i][j] * scale * G[j];
    }
  }
}
