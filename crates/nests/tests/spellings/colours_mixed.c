// parts: vectors
// x float32 7,50,3 input
// y float32 7,50,3 output
void solution(float x[7][50][3], float y[7][50][3]) {
  for (int i = 0; i < 7; i++) {
    for (int j = 0; j < 50; j++) {
      float r = x[i][j][0], g = x[i][j][1], b = x[i][j][2];
      y[i][j][0] = 0.3f * r + 0.6f * g + 0.1f * b;
      y[i][j][2] = 0.5f * (b - r);
      y[i][j][1] = 0.5f * (r - g);
    }
  }
}
