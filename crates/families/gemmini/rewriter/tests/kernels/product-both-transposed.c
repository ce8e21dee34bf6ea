// C = A^T B^T: the array turns both as they stream through it.
void solution(int8_t A[48][64], int8_t B[32][48], int8_t C[64][32]) {
  config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 1, true, true);
  config_st(32);
  config_ld(64, 1.0f, 16, 0);
  config_ld(48, 1.0f, 16, 1);
  for (int i = 0; i < 64; i += 16) {
    for (int j = 0; j < 32; j += 16) {
      for (int k = 0; k < 48; k += 16) {
        mvin(&A[k][i], 0, 16, 16);
        mvin2(&B[j][k], 4096, 16, 16);
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
