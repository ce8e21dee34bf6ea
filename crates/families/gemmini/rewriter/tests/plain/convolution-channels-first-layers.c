// is: convolution 3x3, stride 1, of 16 channels, 144x32, with ReLU; convolution 3x3, stride 1, of 32 channels, 100x16, then the core
void solution(int8_t image[16][14][14], int8_t first[32][16][3][3], int8_t second[16][32][3][3], int8_t out[16][10][10]) {
  static int8_t between[32][12][12];
  for (int o = 0; o < 32; o++)
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++) {
        int32_t sum = 0;
        for (int c = 0; c < 16; c++)
          for (int v = 0; v < 3; v++)
            for (int u = 0; u < 3; u++) sum += image[c][y + v][x + u] * first[o][c][v][u];
        between[o][y][x] = sum > 127 ? 127 : sum < 0 ? 0 : sum;
      }
  for (int o = 0; o < 16; o++)
    for (int y = 0; y < 10; y++)
      for (int x = 0; x < 10; x++) {
        int32_t sum = 0;
        for (int c = 0; c < 32; c++)
          for (int v = 0; v < 3; v++)
            for (int u = 0; u < 3; u++) sum += between[c][y + v][x + u] * second[o][c][v][u];
        out[o][y][x] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }
}
