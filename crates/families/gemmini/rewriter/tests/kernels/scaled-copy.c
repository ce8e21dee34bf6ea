// One array, halved and at least 0.
void solution(int8_t A[48][64], int8_t C[48][64]) {
  gemmini_extended3_config_ld(64, 0.5f, true, 0);
  gemmini_extended_config_st(64, RELU, 1.0f);
  for (int i = 0; i < 48; i += 16) {
    for (int j = 0; j < 64; j += 16) {
      mvin(&A[i][j], 0x80000000, 16, 16);
      mvout(&C[i][j], 0x80000000, 16, 16);
    }
  }
  fence();
}
