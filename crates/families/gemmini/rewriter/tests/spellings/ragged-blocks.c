// Blocks of tiles of which the last one has fewer.
// is: product 80x128x128

void solution(int8_t A[80][128], int8_t B[128][128], int8_t C[80][128]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(128);
  config_ld(0, 1.0f, 16, 0);
  config_ld(128, 1.0f, 16, 1);
  config_ld(128, 1.0f, 16, 2);
  for (int i0 = 0; i0 < 5; i0 += 2) {
    int tiles = i0 + 2 < 5 ? 2 : 5 - i0;
    for (int j = 0; j < 2; j++) {
      for (int t = 0; t < tiles; t++) {
        for (int jj = 0; jj < 4; jj++) {
          mvin(0, 0x80000000 + (t * 4 + jj) * 16, 16, 16);
        }
      }
      for (int ko = 0; ko < 2; ko++) {
        for (int t = 0; t < tiles; t++) {
          mvin2(&A[(i0 + t) * 16][ko * 64], t * 64, 64, 16);
        }
        for (int k = 0; k < 4; k++) {
          mvin3(&B[ko * 64 + k * 16][j * 64], 1024 + k * 64, 64, 16);
        }
        for (int t = 0; t < tiles; t++) {
          for (int k = 0; k < 4; k++) {
            for (int jj = 0; jj < 4; jj++) {
              preload(1024 + k * 64 + jj * 16, 0xc0000000 + (t * 4 + jj) * 16, 16, 16, 16, 16);
              compute_preloaded(t * 64 + k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
            }
          }
        }
      }
      for (int t = 0; t < tiles; t++) {
        mvout(&C[(i0 + t) * 16][j * 64], 0x80000000 + t * 64, 64, 16);
      }
    }
  }
  fence();
}
