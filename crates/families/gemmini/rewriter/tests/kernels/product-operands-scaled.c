// Both operands and the bias of operands are scaled as they come in.
void solution(int8_t A[32][32], int8_t B[32][48], int8_t D[1][48], int8_t C[32][48]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(48);
  config_ld(32, 0.5f, 16, 0);
  config_ld(48, 2.0f, 16, 1);
  gemmini_extended3_config_ld(0, 0.25f, true, 2);
  for (int i = 0; i < 32; i += 16) {
    for (int j = 0; j < 48; j += 16) {
      mvin3(&D[0][j], 0x80000000, 16, 16);
      for (int k = 0; k < 32; k += 16) {
        mvin(&A[i][k], 0, 16, 16);
        mvin2(&B[k][j], 4096, 16, 16);
        preload(4096, 0xc0000000, 16, 16, 16, 16);
        compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
      }
      mvout(&C[i][j], 0x80000000, 16, 16);
    }
  }
  fence();
}
