// Four products of their own, one behind the other in each array.
void solution(int8_t A[4][32][48], int8_t B[4][48][32], int8_t C[4][32][32]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(32);
  config_ld(48, 1.0f, 16, 0);
  config_ld(32, 1.0f, 16, 1);
  for (int b = 0; b < 4; b++) {
    for (int i = 0; i < 32; i += 16) {
      for (int j = 0; j < 32; j += 16) {
        for (int k = 0; k < 48; k += 16) {
          mvin(&A[b][i][k], 0, 16, 16);
          mvin2(&B[b][k][j], 4096, 16, 16);
          preload(4096, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
          compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
        }
        mvout(&C[b][i][j], 0x80000000, 16, 16);
      }
    }
  }
  fence();
}
