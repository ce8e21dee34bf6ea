// One matrix product after the other, each with its own configuration, loads,
// store and fence; sums and signs by the core.
void solution(float Adyn[12][12], float Bdyn[12][4], float Kinf[4][12], float x[{{ H + 1 }}][12][1], float d[{{ H }}][4][1], float u[{{ H }}][4][1]) {
  static float Kx[4][1];
  static float Ax[12][1];
  static float Bu[12][1];
  for (int i = 0; i < {{ H }}; i++) {
    // Kx = Kinf x[i]
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(4, 1.0f);
    config_ld(48, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    mvin(&Kinf[0][0], 0, 12, 4);
    for (int k = 0; k < 3; k++) {
      mvin2(&x[i][k * 4][0], 64 + k * 4, 1, 4);
    }
    for (int k = 0; k < 3; k++) {
      preload(64 + k * 4, k == 0 ? 0x80000000 : 0xc0000000, 1, 4, 1, 4);
      compute_preloaded(k * 4, GARBAGE_ADDR, 4, 4, 4, 4);
    }
    mvout(&Kx[0][0], 0x80000000, 1, 4);
    fence();
    // u[i] = -Kx - d[i]
    for (int r = 0; r < 4; r++) {
      u[i][r][0] = -Kx[r][0] - d[i][r][0];
    }
    // Ax = Adyn x[i]
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(4, 1.0f);
    config_ld(48, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    for (int r = 0; r < 3; r++) {
      mvin(&Adyn[r * 4][0], r * 12, 12, 4);
    }
    for (int k = 0; k < 3; k++) {
      mvin2(&x[i][k * 4][0], 64 + k * 4, 1, 4);
    }
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 3; k++) {
        preload(64 + k * 4, (k == 0 ? 0x80000000 : 0xc0000000) + r * 4, 1, 4, 1, 4);
        compute_preloaded(r * 12 + k * 4, GARBAGE_ADDR, 4, 4, 4, 4);
      }
      mvout(&Ax[r * 4][0], 0x80000000 + r * 4, 1, 4);
    }
    fence();
    // Bu = Bdyn u[i]
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(4, 1.0f);
    config_ld(16, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    for (int r = 0; r < 3; r++) {
      mvin(&Bdyn[r * 4][0], r * 4, 4, 4);
    }
    mvin2(&u[i][0][0], 64, 1, 4);
    for (int r = 0; r < 3; r++) {
      preload(64, 0x80000000 + r * 4, 1, 4, 1, 4);
      compute_preloaded(r * 4, GARBAGE_ADDR, 4, 4, 4, 4);
      mvout(&Bu[r * 4][0], 0x80000000 + r * 4, 1, 4);
    }
    fence();
    // x[i + 1] = Ax + Bu
    for (int r = 0; r < 12; r++) {
      x[i + 1][r][0] = Ax[r][0] + Bu[r][0];
    }
  }
}
