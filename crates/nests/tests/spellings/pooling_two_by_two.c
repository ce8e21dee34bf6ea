// parts: vectors
// x float32 3,12,40 input
// y float32 3,6,20 output
void solution(float x[3][12][40], float y[3][6][20]) {
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 20; j++) {
        float best = -1e30f;
        for (int u = 0; u < 2; u++)
          for (int v = 0; v < 2; v++) {
            float value = x[c][i * 2 + u][j * 2 + v];
            if (value > best) best = value;
          }
        y[c][i][j] = best;
      }
}
