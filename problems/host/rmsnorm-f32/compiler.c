// The same, with sums in any order, which the compiler needs to use vectors.
void solution(float X[restrict {{ M }}][{{ N }}], float G[{{ N }}], float Y[restrict {{ M }}][{{ N }}]) {
#pragma clang fp reassociate(on)
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
