void solution(int8_t inp[2][17][17][32], int8_t weights[3][3][32][48], int32_t bias[1][48], int8_t output[2][8][8][48]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(48);
  config_ld(0, 1.0f, 16, 0);
  config_ld(64, 1.0f, 16, 1);
  config_ld(48, 1.0f, 16, 2);
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < 8; y++) {
      for (int x = 0; x < 8; x += 16) {
        int pixels = x + 16 <= 8 ? 16 : 8 - x;
        for (int o = 0; o < 48; o += 16) {
          mvin(&bias[0][o], 0x80000000, 16, pixels);
          for (int u = 0; u < 3; u++) {
            for (int v = 0; v < 3; v++) {
              for (int c = 0; c < 32; c += 16) {
                mvin2(&inp[b][y * 2 + u][x * 2 + v][c], 0, 16, pixels);
                mvin3(&weights[u][v][c][o], 1024, 16, 16);
                preload(1024, 0xc0000000, 16, 16, 16, pixels);
                compute_preloaded(0, GARBAGE_ADDR, 16, pixels, 16, pixels);
              }
            }
          }
          mvout(&output[b][y][x][o], 0x80000000, 16, pixels);
        }
      }
    }
  }
  fence();
}
