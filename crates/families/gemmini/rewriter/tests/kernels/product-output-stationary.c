// Sums stay in the array while operands stream through it; the result is left in the scratchpad.
void solution(int8_t A[64][48], int8_t B[48][32], int8_t C[64][32]) {
  config_ex(OUTPUT_STATIONARY, RELU, 1, false, false);
  config_st(32);
  config_ld(48, 1.0f, 16, 0);
  config_ld(32, 1.0f, 16, 1);
  for (int i = 0; i < 64; i += 16) {
    for (int j = 0; j < 32; j += 16) {
      for (int k = 0; k < 48; k += 16) {
        mvin(&A[i][k], 0, 16, 16);
        mvin2(&B[k][j], 4096, 16, 16);
        preload(GARBAGE_ADDR, k == 32 ? 8192 : GARBAGE_ADDR, 16, 16, 16, 16);
        if (k == 0) {
          compute_preloaded(0, 4096, 16, 16, 16, 16);
        } else {
          compute_accumulated(0, 4096, 16, 16, 16, 16);
        }
      }
      mvout(&C[i][j], 8192, 16, 16);
    }
  }
  fence();
}
