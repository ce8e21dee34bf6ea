void solution(int8_t inp[2][8][8][32], int8_t weights[3][3][32], int32_t bias[1][32], int8_t output[2][6][6][32]) {
  static int8_t diagonal[9][32][16];
  for (int tap = 0; tap < 9; tap++) {
    for (int c = 0; c < 32; c++) {
      diagonal[tap][c][c % 16] = weights[tap / 3][tap % 3][c];
    }
  }
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(32);
  config_ld(0, 1.0f, 16, 0);
  config_ld(32, 1.0f, 16, 1);
  config_ld(16, 1.0f, 16, 2);
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < 6; y++) {
      for (int c = 0; c < 2; c++) {
        mvin(&bias[0][c * 16], 0x80000000, 16, 6);
        for (int tap = 0; tap < 9; tap++) {
          mvin2(&inp[b][y + tap / 3][tap % 3][c * 16], 0, 16, 6);
          mvin3(&diagonal[tap][c * 16][0], 1024, 16, 16);
          preload(1024, 0xc0000000, 16, 16, 16, 6);
          compute_preloaded(0, 0xffffffff, 16, 6, 16, 16);
        }
        mvout(&output[b][y][0][c * 16], 0x80000000, 16, 6);
      }
    }
  }
  fence();
}
