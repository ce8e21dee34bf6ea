// One matrix product after the other, each with its own configuration, loads,
// store and fence; sums and signs by the core.
void solution(float Bdyn[12][4], float Quu_inv[4][4], float Kinf[4][12], float AmBKt[12][12], float p[{{ H + 1 }}][12][1], float d[{{ H + 1 }}][4][1], float r[{{ H }}][4][1], float q[{{ H }}][12][1]) {
  static float Bp[4][1];
  static float Kr[12][1];
  static float Ap[12][1];
  for (int i = {{ H - 2 }}; i >= 0; i--) {
    // Bp = Bdyn' p[i + 1]
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, true, false);
    config_st(4, 1.0f);
    config_ld(16, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    for (int k = 0; k < 3; k++) {
      mvin(&Bdyn[k * 4][0], k * 4, 4, 4);
      mvin2(&p[i + 1][k * 4][0], 64 + k * 4, 1, 4);
    }
    for (int k = 0; k < 3; k++) {
      preload(64 + k * 4, k == 0 ? 0x80000000 : 0xc0000000, 1, 4, 1, 4);
      compute_preloaded(k * 4, GARBAGE_ADDR, 4, 4, 4, 4);
    }
    mvout(&Bp[0][0], 0x80000000, 1, 4);
    fence();
    // Bp = Bp + r[i]
    for (int c = 0; c < 4; c++) {
      Bp[c][0] = Bp[c][0] + r[i][c][0];
    }
    // d[i] = Quu_inv' Bp
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, true, false);
    config_st(4, 1.0f);
    config_ld(16, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    mvin(&Quu_inv[0][0], 0, 4, 4);
    mvin2(&Bp[0][0], 64, 1, 4);
    preload(64, 0x80000000, 1, 4, 1, 4);
    compute_preloaded(0, GARBAGE_ADDR, 4, 4, 4, 4);
    mvout(&d[i][0][0], 0x80000000, 1, 4);
    fence();
    // Kr = Kinf' r[i]
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, true, false);
    config_st(4, 1.0f);
    config_ld(48, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    mvin(&Kinf[0][0], 0, 12, 4);
    mvin2(&r[i][0][0], 64, 1, 4);
    for (int n = 0; n < 3; n++) {
      preload(64, 0x80000000 + n * 4, 1, 4, 1, 4);
      compute_preloaded(n * 4, GARBAGE_ADDR, 4, 4, 4, 4);
      mvout(&Kr[n * 4][0], 0x80000000 + n * 4, 1, 4);
    }
    fence();
    // Ap = AmBKt p[i + 1]
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(4, 1.0f);
    config_ld(48, 1.0f, 4, 0);
    config_ld(4, 1.0f, 4, 1);
    for (int n = 0; n < 3; n++) {
      mvin(&AmBKt[n * 4][0], n * 12, 12, 4);
      mvin2(&p[i + 1][n * 4][0], 64 + n * 4, 1, 4);
    }
    for (int n = 0; n < 3; n++) {
      for (int k = 0; k < 3; k++) {
        preload(64 + k * 4, (k == 0 ? 0x80000000 : 0xc0000000) + n * 4, 1, 4, 1, 4);
        compute_preloaded(n * 12 + k * 4, GARBAGE_ADDR, 4, 4, 4, 4);
      }
      mvout(&Ap[n * 4][0], 0x80000000 + n * 4, 1, 4);
    }
    fence();
    // p[i] = q[i] + Ap - Kr
    for (int n = 0; n < 12; n++) {
      p[i][n][0] = q[i][n][0] + Ap[n][0] - Kr[n][0];
    }
  }
}
