// parts: vectors
// x float32 12,20 input
// y float32 18,30 output
void solution(float x[12][20], float y[18][30]) {
  for (int i = 0; i < 18; i++)
    for (int j = 0; j < 30; j++) {
      float v = (i + 0.5f) * (2.0f / 3.0f) - 0.5f, u = (j + 0.5f) * (2.0f / 3.0f) - 0.5f;
      if (v < 0) v = 0;
      if (u < 0) u = 0;
      int i0 = (int)v, j0 = (int)u;
      int i1 = i0 + 1 < 12 ? i0 + 1 : 11, j1 = j0 + 1 < 20 ? j0 + 1 : 19;
      float s = v - i0, t = u - j0;
      y[i][j] = (x[i0][j0] * (1 - t) + x[i0][j1] * t) * (1 - s) + (x[i1][j0] * (1 - t) + x[i1][j1] * t) * s;
    }
}
