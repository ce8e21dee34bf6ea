// C = A^T B: the array transposes A as it streams in.
void solution(int8_t A[48][64], int8_t B[48][32], int8_t C[64][32]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, true, false);
  config_st(32);
  config_ld(64, 1.0f, 16, 0);
  config_ld(32, 1.0f, 16, 1);
  for (int i = 0; i < 64; i += 16) {
    for (int j = 0; j < 32; j += 16) {
      for (int k = 0; k < 48; k += 16) {
        mvin(&A[k][i], 0, 16, 16);
        mvin2(&B[k][j], 4096, 16, 16);
        preload(4096, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
        compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
      }
      mvout(&C[i][j], 0x80000000, 16, 16);
    }
  }
  fence();
}
