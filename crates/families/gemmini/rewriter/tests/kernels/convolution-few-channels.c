// The first layer of a network: three channels, zeros around the image.
void solution(int8_t inp[2][9][9][3], int8_t weights[3][3][3][24], int32_t bias[1][24], int8_t output[2][9][9][24]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  gemmini_extended_config_st(24, RELU, 0.25f);
  config_ld(0, 1.0f, 16, 0);
  config_ld(3, 1.0f, 16, 1);
  config_ld(24, 1.0f, 16, 2);
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < 9; y++) {
      for (int o = 0; o < 24; o += 16) {
        int wide = o + 16 <= 24 ? 16 : 24 - o;
        mvin(&bias[0][o], 0x80000000, wide, 9);
        for (int u = 0; u < 3; u++) {
          int row = y + u - 1;
          if (row < 0 || row >= 9) {
            continue;
          }
          for (int v = 0; v < 3; v++) {
            int beside = v == 0 ? 1 : 0;
            mvin2(0, 0, 3, 9);
            mvin2(&inp[b][row][v == 2 ? 1 : 0][0], beside, 3, v == 1 ? 9 : 8);
            mvin3(&weights[u][v][0][o], 1024, wide, 3);
            preload(1024, 0xc0000000, wide, 3, wide, 9);
            compute_preloaded(0, GARBAGE_ADDR, 3, 9, wide, 9);
          }
        }
        mvout(&output[b][y][0][o], 0x80000000, wide, 9);
      }
    }
  }
  fence();
}
