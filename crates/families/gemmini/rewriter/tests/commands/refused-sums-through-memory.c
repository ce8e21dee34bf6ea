// refused: an array that is stored to again after it was read
// Rounded sums leave and come in again.
void solution(int8_t A[16][32], int8_t B[32][16], int8_t C[16][16]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(16);
  config_ld(32, 1.0f, 16, 0);
  config_ld(16, 1.0f, 16, 1);
  gemmini_extended3_config_ld(16, 1.0f, true, 2);
  for (int k = 0; k < 32; k += 16) {
    mvin(&A[0][k], 0, 16, 16);
    mvin2(&B[k][0], 1024, 16, 16);
    if (k != 0) {
      mvin3(&C[0][0], 0x80000000, 16, 16);
    }
    preload(1024, k == 0 ? 0x80000000 : 0xc0000000, 16, 16, 16, 16);
    compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
    mvout(&C[0][0], 0x80000000, 16, 16);
    fence();
  }
}
