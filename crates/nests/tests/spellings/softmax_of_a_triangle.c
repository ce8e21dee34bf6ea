// parts: vectors, vectors, vectors
// X float32 40,40 input
// Y float32 40,40 output
void solution(float X[40][40], float Y[40][40]) {
  for (int i = 0; i < 40; i++) {
    float m = X[i][0];
    for (int j = 0; j <= i; j++) if (X[i][j] > m) m = X[i][j];
    float s = 0;
    for (int j = 0; j <= i; j++) { Y[i][j] = expf(X[i][j] - m); s += Y[i][j]; }
    for (int j = 0; j < 40; j++) Y[i][j] = j <= i ? Y[i][j] / s : 0.0f;
  }
}
