void solution(int8_t inp[2][12][12][32], int8_t weights[3][3][32][32], int32_t bias[1][32], int8_t output[2][8][8][32]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(32);
  config_ld(0, 1.0f, 16, 0);
  config_ld(32, 1.0f, 16, 1);
  config_ld(32, 1.0f, 16, 2);
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < 8; y++) {
      for (int o = 0; o < 32; o += 16) {
        mvin(&bias[0][o], 0x80000000, 16, 8);
        for (int u = 0; u < 3; u++) {
          for (int v = 0; v < 3; v++) {
            for (int c = 0; c < 32; c += 16) {
              mvin2(&inp[b][y + u * 2][v * 2][c], 0, 16, 8);
              mvin3(&weights[u][v][c][o], 1024, 16, 16);
              preload(1024, 0xc0000000, 16, 16, 16, 8);
              compute_preloaded(0, GARBAGE_ADDR, 16, 8, 16, 8);
            }
          }
        }
        mvout(&output[b][y][0][o], 0x80000000, 16, 8);
      }
    }
  }
  fence();
}
