// Addresses with names.
// is: product 64x128x128

void solution(int8_t A[64][128], int8_t B[128][128], int8_t C[64][128]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(128);
  config_ld(0, 1.0f, 16, 0);
  config_ld(128, 1.0f, 16, 1);
  config_ld(128, 1.0f, 16, 2);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 2; j++) {
      for (int jj = 0; jj < 4; jj++) {
        mvin(0, 0x80000000 + jj * 16, 16, 16);
      }
      for (int ko = 0; ko < 2; ko++) {
        const uint32_t A_sp = 0;
        const uint32_t B_sp = A_sp + 1024;
        mvin2(&A[i * 16][ko * 64], 0, 64, 16);
        for (int k = 0; k < 4; k++) {
          mvin3(&B[ko * 64 + k * 16][j * 64], 1024 + k * 64, 64, 16);
        }
        for (int k = 0; k < 4; k++) {
          const uint32_t A_tile = A_sp + k * 16;
          for (int jj = 0; jj < 4; jj++) {
            const uint32_t B_tile = B_sp + (k * 4 + jj) * 16;
            const uint32_t C_tile = 3u << 30 | jj * 16;
            preload(B_tile, C_tile, 16, 16, 16, 16);
            compute_preloaded(A_tile, GARBAGE_ADDR, 16, 16, 16, 16);
          }
        }
      }
      for (int jj = 0; jj < 4; jj++) {
        mvout(&C[i * 16][j * 64 + jj * 16], 0x80000000 + jj * 16, 16, 16);
      }
    }
  }
  fence();
}
