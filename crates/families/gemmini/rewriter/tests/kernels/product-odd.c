void solution(int8_t A[33][127], int8_t B[127][65], int8_t C[33][65]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(65);
  config_ld(0, 1.0f, 16, 0);
  config_ld(127, 1.0f, 16, 1);
  config_ld(65, 1.0f, 16, 2);
  for (int i = 0; i < 33; i += 16) {
    int rows = i + 16 <= 33 ? 16 : 33 - i;
    for (int j = 0; j < 65; j += 16) {
      int columns = j + 16 <= 65 ? 16 : 65 - j;
      mvin(0, 0x80000000, columns, rows);
      for (int k = 0; k < 127; k += 16) {
        int depth = k + 16 <= 127 ? 16 : 127 - k;
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
