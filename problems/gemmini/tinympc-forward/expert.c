// Hand schedule. Everything stays in the scratchpad: matrices are moved in once,
// with -Kinf and -d in place of signs, and a step's results are written where the
// next step takes its operands. Output stationary, so that the terms of a sum
// add up inside the array and only a finished sum costs the way through it: u[i],
// then x[i + 1]. While u[i] is under way the array works on the terms of x[i]: first
// on those of the last four elements, set aside and taken up again behind the
// others, so that nothing waits in between. d[i + 1] comes in beside.
// Step i keeps x[i] at rows 4096 + i * 12, u[i] at rows 8192 + i * 4 and what is set
// aside at 12288 + i * 4, in banks other than the matrices'.
// The limit is latency: 96 cycles a step, in 60 of which the array multiplies; the
// rest is the way through the array, once for u[i] and once for x[i + 1].
void solution(float Adyn[12][12], float Bdyn[12][4], float Kinf[4][12], float x[{{ H + 1 }}][12][1], float d[{{ H }}][4][1], float u[{{ H }}][4][1]) {
  config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(4, 1.0f);
  config_ld(4, 1.0f, 4, 1);
  config_ld(4, -1.0f, 4, 2);
  config_ld(48, -1.0f, 4, 0);
  mvin(&Kinf[0][0], 48, 12, 4);
  for (int k = 0; k < 3; k++) {
    mvin2(&x[0][k * 4][0], 4096 + k * 4, 1, 4);
  }
  mvin3(&d[0][0][0], 8192, 1, 4);
  config_ld(48, 1.0f, 4, 0);
  mvin(&Adyn[8][0], 24, 12, 4);
  mvin(&Adyn[0][0], 0, 12, 4);
  mvin(&Adyn[4][0], 12, 12, 4);
  config_ld(16, 1.0f, 4, 0);
  for (int r = 0; r < 3; r++) {
    mvin(&Bdyn[r * 4][0], 36 + r * 4, 4, 4);
  }
  for (int i = 0; i < {{ H }}; i++) {
    uint64_t now = 4096 + i * 12;
    uint64_t next = now + 12;
    uint64_t input = 8192 + i * 4;
    uint64_t aside = 12288 + i * 4;
    // -d - Kinf x, in place of -d
    preload(input, GARBAGE_ADDR, 1, 4, 1, 4);
    compute_preloaded(48, now, 4, 4, 1, 4);
    preload(GARBAGE_ADDR, GARBAGE_ADDR, 1, 4, 1, 4);
    compute_accumulated(52, now + 4, 4, 4, 1, 4);
    preload(GARBAGE_ADDR, input, 1, 4, 1, 4);
    compute_accumulated(56, now + 8, 4, 4, 1, 4);
    if (i < {{ H - 1 }}) {
      mvin3(&d[i + 1][0][0], input + 4, 1, 4);
    }
    // Adyn x, last four elements
    preload(GARBAGE_ADDR, GARBAGE_ADDR, 1, 4, 1, 4);
    compute_preloaded(24, now, 4, 4, 1, 4);
    preload(GARBAGE_ADDR, GARBAGE_ADDR, 1, 4, 1, 4);
    compute_accumulated(28, now + 4, 4, 4, 1, 4);
    preload(GARBAGE_ADDR, aside, 1, 4, 1, 4);
    compute_accumulated(32, now + 8, 4, 4, 1, 4);
    // Adyn x + Bdyn u, the others
    for (int r = 0; r < 2; r++) {
      preload(GARBAGE_ADDR, GARBAGE_ADDR, 1, 4, 1, 4);
      compute_preloaded(r * 12, now, 4, 4, 1, 4);
      preload(GARBAGE_ADDR, GARBAGE_ADDR, 1, 4, 1, 4);
      compute_accumulated(r * 12 + 4, now + 4, 4, 4, 1, 4);
      preload(GARBAGE_ADDR, GARBAGE_ADDR, 1, 4, 1, 4);
      compute_accumulated(r * 12 + 8, now + 8, 4, 4, 1, 4);
      preload(GARBAGE_ADDR, next + r * 4, 1, 4, 1, 4);
      compute_accumulated(36 + r * 4, input, 4, 4, 1, 4);
    }
    // + Bdyn u, last four
    preload(aside, next + 8, 1, 4, 1, 4);
    compute_preloaded(44, input, 4, 4, 1, 4);
    mvout(&u[i][0][0], input, 1, 4);
    for (int r = 0; r < 3; r++) {
      mvout(&x[i + 1][r * 4][0], next + r * 4, 1, 4);
    }
  }
  fence();
}
