// One 16x64 block of C at a time, every operand moved in when it is needed.
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(64);
  config_ld(0, 1.0f, 16, 0);
  config_ld(64, 1.0f, 16, 1);
  config_ld(64, 1.0f, 16, 2);
  for (int i = 0; i < 4; i++) {
    for (int jj = 0; jj < 4; jj++) {
      mvin(0, 0x80000000 + jj * 16, 16, 16);
    }
    mvin2(&A[i * 16][0], 0, 64, 16);
    for (int k = 0; k < 4; k++) {
      mvin3(&B[k * 16][0], 1024 + k * 64, 64, 16);
    }
    for (int k = 0; k < 4; k++) {
      for (int jj = 0; jj < 4; jj++) {
        preload(1024 + k * 64 + jj * 16, 0xc0000000 + jj * 16, 16, 16, 16, 16);
        compute_preloaded(k * 16, 0xffffffff, 16, 16, 16, 16);
      }
    }
    for (int jj = 0; jj < 4; jj++) {
      mvout(&C[i * 16][jj * 16], 0x80000000 + jj * 16, 16, 16);
    }
  }
  fence();
}
