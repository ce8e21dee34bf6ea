// As one writes it down.
void solution(float X[{{ M }}][{{ N }}], float G[{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      sum += (float)X[i][j] * X[i][j];
    }
    float scale = 1 / sqrtf(sum / {{ N }} + (float)1e-6);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (float)(X[i][j] * scale * G[j]);
    }
  }
}
