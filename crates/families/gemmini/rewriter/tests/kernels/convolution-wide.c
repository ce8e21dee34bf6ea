// Twelve columns lie behind the last whole tile of a row.
void solution(int8_t inp[4][12][28][48], int8_t weights[3][3][48][32], int32_t bias[1][32], int8_t output[4][12][28][32]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(32);
  config_ld(0, 1.0f, 16, 0);
  config_ld(48, 1.0f, 16, 1);
  config_ld(32, 1.0f, 16, 2);
  for (int b = 0; b < 4; b++) {
    for (int y = 0; y < 12; y++) {
      for (int x = 0; x < 28; x += 14) {
        for (int o = 0; o < 32; o += 16) {
          mvin(&bias[0][o], 0x80000000, 16, 14);
          for (int u = 0; u < 3; u++) {
            int row = y + u - 1;
            if (row < 0 || row >= 12) {
              continue;
            }
            for (int v = 0; v < 3; v++) {
              int first = x + v == 0 ? 1 : 0;
              int last = x + v + 13 == 29 ? 1 : 0;
              for (int c = 0; c < 48; c += 16) {
                mvin2(0, 0, 16, 14);
                mvin2(&inp[b][row][x + v - 1 + first][c], first, 16, 14 - first - last);
                mvin3(&weights[u][v][c][o], 1024, 16, 16);
                preload(1024, 0xc0000000, 16, 16, 16, 14);
                compute_preloaded(0, GARBAGE_ADDR, 16, 14, 16, 14);
              }
            }
          }
          mvout(&output[b][y][x][o], 0x80000000, 16, 14);
        }
      }
    }
  }
  fence();
}
