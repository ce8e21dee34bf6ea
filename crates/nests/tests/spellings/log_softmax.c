// parts: vectors, vectors, vectors
// X float32 6,333 input
// Y float32 6,333 output
void solution(float X[6][333], float Y[6][333]) {
  for (int r = 0; r < 6; r++) {
    float max = X[r][0], sum = 0.0f;
    for (int c = 1; c < 333; c++) max = fmaxf(max, X[r][c]);
    for (int c = 0; c < 333; c++) sum += expf(X[r][c] - max);
    float lse = max + logf(sum);
    for (int c = 0; c < 333; c++) Y[r][c] = X[r][c] - lse;
  }
}
