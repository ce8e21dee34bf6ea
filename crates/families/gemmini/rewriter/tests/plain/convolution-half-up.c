// is: product 100x40x216, at full width, then the core
void solution(int8_t inp[1][12][12][24], int8_t weights[3][3][24][40], int8_t output[1][10][10][40]) {
  for (int y = 0; y < 10; y++)
    for (int x = 0; x < 10; x++)
      for (int o = 0; o < 40; o++) {
        int32_t sum = 8;
        for (int u = 0; u < 3; u++)
          for (int v = 0; v < 3; v++)
            for (int c = 0; c < 24; c++) sum += inp[0][y + u][x + v][c] * weights[u][v][c][o];
        sum >>= 4;
        output[0][y][x][o] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }
}
