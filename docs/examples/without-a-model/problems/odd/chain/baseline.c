// A tile at a time, every operand moved in when it is needed: nothing scheduled.
void solution(int8_t A[128][96], int8_t B[96][64], int8_t D[64][80], int8_t C[128][80]) {
  static int8_t T[128][64];
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(64);
  config_ld(96, 1.0f, 16, 1);
  config_ld(64, 1.0f, 16, 2);
  for (int i = 0; i < 128; i += 16) {
    for (int j = 0; j < 64; j += 16) {
      for (int k = 0; k < 96; k += 16) {
        mvin2(&A[i][k], 0, 16, 16);
        mvin3(&B[k][j], 1024, 16, 16);
        preload(1024, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
        compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
      }
      mvout(&T[i][j], 0x80000000, 16, 16);
    }
  }
  fence();
  config_st(80);
  config_ld(64, 1.0f, 16, 1);
  config_ld(80, 1.0f, 16, 2);
  for (int i = 0; i < 128; i += 16) {
    for (int j = 0; j < 80; j += 16) {
      for (int k = 0; k < 64; k += 16) {
        mvin2(&T[i][k], 0, 16, 16);
        mvin3(&D[k][j], 1024, 16, 16);
        preload(1024, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
        compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
      }
      mvout(&C[i][j], 0x80000000, 16, 16);
    }
  }
  fence();
}
