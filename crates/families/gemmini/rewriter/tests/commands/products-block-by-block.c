// is: product 64x32x32; product 64x48x32
// Each block of rows of the first product is taken by the second one at once.
void solution(int8_t A[64][32], int8_t B[32][32], int8_t D[32][48], int8_t C[64][48]) {
  static int8_t T[64][32];
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  for (int i = 0; i < 64; i += 16) {
    config_st(32);
    config_ld(32, 1.0f, 16, 0);
    for (int j = 0; j < 32; j += 16) {
      for (int k = 0; k < 32; k += 16) {
        mvin(&A[i][k], 0, 16, 16);
        mvin(&B[k][j], 1024, 16, 16);
        preload(1024, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
        compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
      }
      mvout(&T[i][j], 0x80000000, 16, 16);
    }
    fence();
    config_st(48);
    config_ld(48, 1.0f, 16, 1);
    for (int j = 0; j < 48; j += 16) {
      for (int k = 0; k < 32; k += 16) {
        mvin(&T[i][k], 0, 16, 16);
        mvin2(&D[k][j], 1024, 16, 16);
        preload(1024, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
        compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
      }
      mvout(&C[i][j], 0x80000000, 16, 16);
    }
  }
  fence();
}
