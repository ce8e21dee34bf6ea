// C = A B^T, odd sizes: the array transposes B as it takes it.
void solution(int8_t A[40][50], int8_t B[36][50], int8_t C[40][36]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, true);
  config_st(36);
  config_ld(50, 1.0f, 16, 0);
  config_ld(50, 1.0f, 16, 1);
  for (int i = 0; i < 40; i += 16) {
    int rows = i + 16 <= 40 ? 16 : 40 - i;
    for (int j = 0; j < 36; j += 16) {
      int columns = j + 16 <= 36 ? 16 : 36 - j;
      for (int k = 0; k < 50; k += 16) {
        int depth = k + 16 <= 50 ? 16 : 50 - k;
        mvin(&A[i][k], 0, depth, rows);
        mvin2(&B[j][k], 4096, depth, columns);
        preload(4096, k == 0 ? 0x80000000 : 0xc0000000, columns, depth, columns, rows);
        compute_preloaded(0, GARBAGE_ADDR, depth, rows, columns, rows);
      }
      mvout(&C[i][j], 0x80000000, columns, rows);
    }
  }
  fence();
}
