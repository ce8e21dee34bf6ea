// parts: product, product, product, product, product, product, product, product, product
// x float32 11,18,4 input
// w float32 3,3,4,20 input
// y float32 11,18,20 output
void solution(float x[11][18][4], float w[3][3][4][20], float y[11][18][20]) {
  for (int i = 0; i < 11; i++)
    for (int j = 0; j < 18; j++)
      for (int o = 0; o < 20; o++) {
        float sum = 0.0f;
        for (int u = 0; u < 3; u++) {
          int row = i + u - 1;
          if (row < 0 || row >= 11) continue;
          for (int v = 0; v < 3; v++) {
            int column = j + v - 1;
            if (column < 0 || column >= 18) continue;
            for (int c = 0; c < 4; c++) sum += x[row][column][c] * w[u][v][c][o];
          }
        }
        y[i][j][o] = sum;
      }
}
