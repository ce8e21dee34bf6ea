// Five steps of a state of 8 numbers: each by the array, sums by the core.
void solution(float A[8][8], float B[8][4], float s[6][8][1], float w[5][4][1], float y[5][4][1], float C[4][8]) {
  static float As[8][1];
  static float Bw[8][1];
  static float Cs[4][1];
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(4);
  for (int i = 0; i < 5; i++) {
    config_ld(32, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    mvin(&C[0][0], 0, 8, 4);
    for (int r = 0; r < 2; r++) {
      mvin(&A[r * 4][0], 16 + r * 8, 8, 4);
      mvin2(&s[i][r * 4][0], 64 + r * 4, 1, 4);
    }
    for (int k = 0; k < 2; k++) {
      preload(64 + k * 4, k == 0 ? 0x80000000 : 0xc0000000, 1, 4, 1, 4);
      compute_preloaded(k * 4, GARBAGE_ADDR, 4, 4, 4, 4);
    }
    mvout(&Cs[0][0], 0x80000000, 1, 4);
    for (int r = 0; r < 2; r++) {
      for (int k = 0; k < 2; k++) {
        preload(64 + k * 4, (k == 0 ? 0x80000004 : 0xc0000004) + r * 4, 1, 4, 1, 4);
        compute_preloaded(16 + r * 8 + k * 4, GARBAGE_ADDR, 4, 4, 4, 4);
      }
      mvout(&As[r * 4][0], 0x80000004 + r * 4, 1, 4);
    }
    fence();
    float half = 0.5f;
    for (int r = 0; r < 4; r++) {
      y[i][r][0] = half * Cs[r][0] + w[i][r][0];
    }
    config_ld(16, 1.0f, 4, 0);
    mvin2(&y[i][0][0], 64, 1, 4);
    for (int r = 0; r < 2; r++) {
      mvin(&B[r * 4][0], r * 4, 4, 4);
      preload(64, 0x80000000 + r * 4, 1, 4, 1, 4);
      compute_preloaded(r * 4, GARBAGE_ADDR, 4, 4, 4, 4);
      mvout(&Bw[r * 4][0], 0x80000000 + r * 4, 1, 4);
    }
    fence();
    for (int r = 0; r < 8; r++) {
      s[i + 1][r][0] = As[r][0] - Bw[r][0];
    }
  }
}
