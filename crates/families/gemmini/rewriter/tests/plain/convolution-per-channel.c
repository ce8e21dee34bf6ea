// is: product 100x32x144, weights transposed, at full width, then the core
void solution(int8_t in[1][10][10][16], int8_t weights[32][3][3][16], int32_t bias[32], float scales[32], int8_t out[1][10][10][32]) {
  for (int y = 0; y < 10; y++)
    for (int x = 0; x < 10; x++)
      for (int o = 0; o < 32; o++) {
        int32_t sum = bias[o];
        for (int v = 0; v < 3; v++)
          for (int u = 0; u < 3; u++) {
            int yy = y + v - 1, xx = x + u - 1;
            if (yy >= 0 && yy < 10 && xx >= 0 && xx < 10)
              for (int c = 0; c < 16; c++) sum += in[0][yy][xx][c] * weights[o][v][u][c];
          }
        float scaled = sum * scales[o];
        int32_t value = (int32_t)(scaled < 0 ? scaled - 0.5f : scaled + 0.5f);
        out[0][y][x][o] = value > 127 ? 127 : value < -128 ? -128 : value;
      }
}
