// is: product 64x32x48, with ReLU; product 64x48x32
// The result of the first product stays in the scratchpad and is the input of the second.
void solution(int8_t A[64][48], int8_t B[48][32], int8_t D[32][48], int8_t C[64][48]) {
  const uint32_t a = 0, b = 1024, d = 2048, t = 4096;
  gemmini_extended3_config_ld(48, 1.0f, false, 0);
  gemmini_extended3_config_ld(32, 1.0f, false, 1);
  gemmini_config_st(48);
  for (int i = 0; i < 4; i++) gemmini_extended_mvin(&A[i * 16][0], a + i * 48, 48, 16);
  for (int k = 0; k < 3; k++) gemmini_extended_mvin2(&B[k * 16][0], b + k * 32, 32, 16);
  for (int k = 0; k < 2; k++) gemmini_extended_mvin(&D[k * 16][0], d + k * 48, 48, 16);
  gemmini_config_ex(OUTPUT_STATIONARY, RELU, 0);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 3; k++) {
        gemmini_preload(GARBAGE_ADDR, k == 2 ? t + i * 32 + j * 16 : GARBAGE_ADDR);
        if (k == 0) gemmini_compute_preloaded(a + i * 48 + k * 16, b + k * 32 + j * 16);
        else gemmini_compute_accumulated(a + i * 48 + k * 16, b + k * 32 + j * 16);
      }
  gemmini_config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 2; k++) {
        gemmini_preload(d + k * 48 + j * 16, (k ? 0xc0000000 : 0x80000000) + j * 16);
        gemmini_compute_preloaded(t + i * 32 + k * 16, GARBAGE_ADDR);
      }
      gemmini_mvout(&C[i * 16][j * 16], 0x80000000 + j * 16);
    }
  gemmini_fence();
}
