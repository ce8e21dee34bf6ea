// The plain loops, and the compiler is told that the sums (nothing else, or it would divide every
// element) may be made in any order, so that it uses vectors.
static inline float squares(const float *x) {
#pragma clang fp reassociate(on)
  float sum = 0.0f;
  for (int j = 0; j < {{ N }}; j++) {
    sum += x[j] * x[j];
  }
  return sum;
}

void solution(float X[restrict {{ M }}][{{ N }}], float G[restrict {{ N }}], float Y[restrict {{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float scale = 1.0f / sqrtf(squares(X[i]) / {{ N }} + 1e-6f);
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = X[i][j] * scale * G[j];
    }
  }
}
