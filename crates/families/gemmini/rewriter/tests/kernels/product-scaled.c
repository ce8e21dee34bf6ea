void solution(int8_t A[128][64], int8_t B[64][96], int8_t C[128][96]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  gemmini_extended_config_st(96, RELU, 0.5f);
  config_ld(0, 1.0f, 16, 0);
  config_ld(64, 1.0f, 16, 1);
  config_ld(96, 1.0f, 16, 2);
  for (int i = 0; i < 128; i += 16) {
    int rows = i + 16 <= 128 ? 16 : 128 - i;
    for (int j = 0; j < 96; j += 16) {
      int columns = j + 16 <= 96 ? 16 : 96 - j;
      mvin(0, 0x80000000, columns, rows);
      for (int k = 0; k < 64; k += 16) {
        int depth = k + 16 <= 64 ? 16 : 64 - k;
        mvin2(&A[i][k], 0, depth, rows);
        mvin3(&B[k][j], 1024, columns, depth);
        preload(1024, 0xc0000000, columns, depth, columns, rows);
        compute_preloaded(0, GARBAGE_ADDR, depth, rows, columns, rows);
      }
      mvout(&C[i][j], 0x80000000, columns, rows);
    }
  }
  fence();
}
