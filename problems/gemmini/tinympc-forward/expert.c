// Everything stays in the scratchpad: matrices are moved in once, with -Kinf and
// -d in place of signs; a step's results are written where the next step takes
// its operands, and each sum goes through the addend of the next product. Step i
// keeps x[i] at rows 1024 + i * 12 and u[i] at rows 2048 + i * 4.
void solution(float Adyn[12][12], float Bdyn[12][4], float Kinf[4][12], float x[{{ H + 1 }}][12][1], float d[{{ H }}][4][1], float u[{{ H }}][4][1]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(4, 1.0f);
  config_ld(4, 1.0f, 4, 1);
  config_ld(4, -1.0f, 4, 2);
  config_ld(48, -1.0f, 4, 0);
  mvin(&Kinf[0][0], 48, 12, 4);
  config_ld(48, 1.0f, 4, 0);
  for (int k = 0; k < 3; k++) {
    mvin2(&x[0][k * 4][0], 1024 + k * 4, 1, 4);
  }
  for (int r = 0; r < 3; r++) {
    mvin(&Adyn[r * 4][0], r * 12, 12, 4);
  }
  config_ld(16, 1.0f, 4, 0);
  for (int r = 0; r < 3; r++) {
    mvin(&Bdyn[r * 4][0], 36 + r * 4, 4, 4);
  }
  for (int i = 0; i < {{ H }}; i++) {
    mvin3(&d[i][0][0], 2048 + i * 4, 1, 4);
  }
  for (int i = 0; i < {{ H }}; i++) {
    uint32_t now = 1024 + i * 12;
    uint32_t next = now + 12;
    uint32_t input = 2048 + i * 4;
    for (int k = 0; k < 3; k++) {
      // -d - Kinf x, in place of -d
      preload(now + k * 4, input, 1, 4, 1, 4);
      compute_preloaded(48 + k * 4, input, 4, 4, 1, 4);
      for (int r = 0; r < 3; r++) {
        preload(GARBAGE_ADDR, next + r * 4, 1, 4, 1, 4);
        compute_accumulated(r * 12 + k * 4, k == 0 ? GARBAGE_ADDR : next + r * 4, 4, 4, 1, 4);
      }
    }
    mvout(&u[i][0][0], input, 1, 4);
    preload(input, next, 1, 4, 1, 4);
    compute_preloaded(36, next, 4, 4, 1, 4);
    for (int r = 1; r < 3; r++) {
      preload(GARBAGE_ADDR, next + r * 4, 1, 4, 1, 4);
      compute_accumulated(36 + r * 4, next + r * 4, 4, 4, 1, 4);
    }
    for (int r = 0; r < 3; r++) {
      mvout(&x[i + 1][r * 4][0], next + r * 4, 1, 4);
    }
  }
  fence();
}
