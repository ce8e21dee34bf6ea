// is: convolution 3x3, stride 1, of 16 channels, 256x32, with ReLU, then the core
// The core takes maxima of what the array leaves.
static int8_t features[1][16][16][32];

static int8_t clamped(int32_t value) { return value > 127 ? 127 : value < -128 ? -128 : value; }

void solution(int8_t inp[1][18][18][16], int8_t weights[3][3][16][32], int8_t output[1][8][8][32]) {
  for (int y = 0; y < 16; y++)
    for (int x = 0; x < 16; x++)
      for (int o = 0; o < 32; o++) {
        int32_t sum = 0;
        for (int u = 0; u < 3; u++)
          for (int v = 0; v < 3; v++)
            for (int c = 0; c < 16; c++) sum += inp[0][y + u][x + v][c] * weights[u][v][c][o];
        features[0][y][x][o] = clamped(sum < 0 ? 0 : sum);
      }
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++)
      for (int o = 0; o < 32; o++) {
        int8_t best = -128;
        for (int u = 0; u < 2; u++)
          for (int v = 0; v < 2; v++) {
            int8_t other = features[0][2 * y + u][2 * x + v][o];
            if (other > best) best = other;
          }
        output[0][y][x][o] = best;
      }
}
