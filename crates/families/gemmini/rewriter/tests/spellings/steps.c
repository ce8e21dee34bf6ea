// Loops in steps of elements.
// is: product 64x128x128

void solution(int8_t A[64][128], int8_t B[128][128], int8_t C[64][128]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(128);
  config_ld(0, 1.0f, 16, 0);
  config_ld(128, 1.0f, 16, 1);
  config_ld(128, 1.0f, 16, 2);
  for (int i = 0; i < 64; i += 16) {
    for (int j = 0; j < 128; j += 64) {
      for (int jj = 0; jj < 4; jj++) {
        mvin(0, 0x80000000 + jj * 16, 16, 16);
      }
      for (int k0 = 0; k0 < 128; k0 += 64) {
        mvin2(&A[i][k0], 0, 64, 16);
        for (int k = 0; k < 64; k += 16) {
          mvin3(&B[k0 + k][j], 1024 + k * 4, 64, 16);
        }
        for (int k = 0; k < 64; k += 16) {
          for (int n = 0; n < 64; n += 16) {
            preload(1024 + k * 4 + n, 0xc0000000 + n, 16, 16, 16, 16);
            compute_preloaded(k, 0xffffffff, 16, 16, 16, 16);
          }
        }
      }
      for (int n = 0; n < 64; n += 16) {
        mvout(&C[i][j + n], 0x80000000 + n, 16, 16);
      }
    }
  }
  fence();
}
