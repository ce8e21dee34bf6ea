// is: product 256x32x144, at full width, then the core
// The maximum is taken where results are computed.
static int8_t clamped(int32_t value) { return value > 127 ? 127 : value < -128 ? -128 : value; }
void solution(int8_t inp[1][18][18][16], int8_t weights[3][3][16][32], int8_t output[1][8][8][32]) {
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++)
      for (int o = 0; o < 32; o++) {
        int8_t best = -128;
        for (int p = 0; p < 2; p++)
          for (int q = 0; q < 2; q++) {
            int32_t sum = 0;
            for (int u = 0; u < 3; u++)
              for (int v = 0; v < 3; v++)
                for (int c = 0; c < 16; c++) sum += inp[0][2 * y + p + u][2 * x + q + v][c] * weights[u][v][c][o];
            int8_t value = clamped(sum < 0 ? 0 : sum);
            if (value > best) best = value;
          }
        output[0][y][x][o] = best;
      }
}
