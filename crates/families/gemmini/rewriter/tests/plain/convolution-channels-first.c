// is: convolution 3x3, stride 1, of 8 channels, 64x16, then the core
void solution(int8_t X[8][10][10], int8_t W[16][8][3][3], int8_t Y[16][8][8]) {
  for (int o = 0; o < 16; o++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 8; x++) {
        int32_t sum = 0;
        for (int c = 0; c < 8; c++)
          for (int v = 0; v < 3; v++)
            for (int u = 0; u < 3; u++) sum += X[c][y + v][x + u] * W[o][c][v][u];
        Y[o][y][x] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }
}
