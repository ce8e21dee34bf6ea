void solution(int8_t A[100][48], int8_t B[48][72], int32_t D[1][72], int8_t C[100][72]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(72);
  config_ld(0, 1.0f, 16, 0);
  config_ld(48, 1.0f, 16, 1);
  config_ld(72, 1.0f, 16, 2);
  for (int i = 0; i < 100; i += 16) {
    int rows = i + 16 <= 100 ? 16 : 100 - i;
    for (int j = 0; j < 72; j += 16) {
      int columns = j + 16 <= 72 ? 16 : 72 - j;
      mvin(&D[0][j], 0x80000000, columns, rows);
      for (int k = 0; k < 48; k += 16) {
        int depth = k + 16 <= 48 ? 16 : 48 - k;
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
