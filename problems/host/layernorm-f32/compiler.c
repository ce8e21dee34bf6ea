// The same, with sums in any order, which the compiler needs to use vectors.
void solution(float X[restrict {{ M }}][{{ N }}], float G[{{ N }}], float B[{{ N }}], float Y[restrict {{ M }}][{{ N }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ M }}; i++) {
    float mean = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      mean += X[i][j];
    }
    mean /= {{ N }};
    float variance = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      variance += (X[i][j] - mean) * (X[i][j] - mean);
    }
    variance /= {{ N }};
    float scale = 1.0f / sqrtf(variance + 1e-5f);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (X[i][j] - mean) * scale * G[j] + B[j];
    }
  }
}
