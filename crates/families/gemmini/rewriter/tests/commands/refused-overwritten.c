// refused: line 25: what came in is used after it was stored to in memory
// The second product takes what `T` held before, which lies in the scratchpad only.
void solution(int8_t A[16][16], int8_t B[16][16], int8_t C[16][16], int8_t E[16][16]) {
  static int8_t T[16][16];
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(16);
  config_ld(16, 1.0f, 16, 0);
  mvin(&A[0][0], 0, 16, 16);
  mvin(&B[0][0], 16, 16, 16);
  preload(16, 0x80000000, 16, 16, 16, 16);
  compute_preloaded(0, GARBAGE_ADDR, 16, 16, 16, 16);
  mvout(&T[0][0], 0x80000000, 16, 16);
  fence();
  mvin(&T[0][0], 32, 16, 16);
  preload(16, 0x80000010, 16, 16, 16, 16);
  compute_preloaded(32, GARBAGE_ADDR, 16, 16, 16, 16);
  mvout(&C[0][0], 0x80000010, 16, 16);
  fence();
  mvin(&C[0][0], 48, 16, 16);
  preload(16, 0x80000020, 16, 16, 16, 16);
  compute_preloaded(48, GARBAGE_ADDR, 16, 16, 16, 16);
  mvout(&T[0][0], 0x80000020, 16, 16);
  preload(16, 0x80000030, 16, 16, 16, 16);
  compute_preloaded(32, GARBAGE_ADDR, 16, 16, 16, 16);
  mvout(&E[0][0], 0x80000030, 16, 16);
  fence();
}
