// Rows by a macro with parentheses around its arguments.
// is: product 64x128x128

#define ROW(base, count, index) ((base) + (index) * (count))

void solution(int8_t A[64][128], int8_t B[128][128], int8_t C[64][128]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(128);
  config_ld(0, 1.0f, 16, 0);
  config_ld(128, 1.0f, 16, 1);
  config_ld(128, 1.0f, 16, 2);
  const uint32_t weights = 1024;
  const uint32_t sums = 0x80000000;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 2; j++) {
      for (int jj = 0; jj < 4; jj++) {
        mvin(0, ROW(sums, 16, jj), 16, 16);
      }
      for (int ko = 0; ko < 2; ko++) {
        mvin2(&A[i * 16][ko * 64], 0, 64, 16);
        for (int k = 0; k < 4; k++) {
          mvin3(&B[ko * 64 + k * 16][j * 64], ROW(weights, 64, k), 64, 16);
        }
        for (int k = 0; k < 4; k++) {
          for (int jj = 0; jj < 4; jj++) {
            preload(ROW(weights, 64, k) + jj * 16, 0xc0000000 + jj * 16, 16, 16, 16, 16);
            compute_preloaded(k * 16, 0xffffffff, 16, 16, 16, 16);
          }
        }
      }
      for (int jj = 0; jj < 4; jj++) {
        mvout(&C[i * 16][j * 64 + jj * 16], ROW(sums, 16, jj), 16, 16);
      }
    }
  }
  fence();
}
