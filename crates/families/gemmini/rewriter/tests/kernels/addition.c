// A comment that describes how it was.
void solution(int8_t A[40][80], int8_t B[40][80], int8_t C[40][80]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(80);
  gemmini_extended3_config_ld(80, 1.0f, true, 0);
  gemmini_extended3_config_ld(80, 0.5f, true, 1);
  for (int i = 0; i < 40; i += 8) {
    for (int j = 0; j < 80; j += 16) {
      mvin(&A[i][j], 0x80000000, 16, 8);
      mvin2(&B[i][j], 0xc0000000, 16, 8);
      mvout(&C[i][j], 0x80000000, 16, 8);
    }
  }
  fence();
}
