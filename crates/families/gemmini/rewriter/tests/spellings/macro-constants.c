// Sizes as macros of the file.
// is: product 64x128x128

#define M 64
#define N 128
#define K 128
#define TILE 16
#define WIDE (4 * TILE)

void solution(int8_t A[M][K], int8_t B[K][N], int8_t C[M][N]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(N * sizeof(elem_t));
  config_ld(0, 1.0f, 16, 0);
  config_ld(K * sizeof(elem_t), 1.0f, 16, 1);
  config_ld(128, 1.0f, 16, 2);
  for (int i = 0; i < M / TILE; i++) {
    for (int j = 0; j < N / WIDE; j++) {
      for (int jj = 0; jj < 4; jj++) {
        mvin(0, 0x80000000 + jj * 16, 16, 16);
      }
      for (int ko = 0; ko < K / WIDE; ko++) {
        mvin2(&A[i * TILE][ko * WIDE], 0, WIDE, TILE);
        for (int k = 0; k < 4; k++) {
          mvin3(&B[ko * 64 + k * 16][j * 64], 1024 + k * 64, 64, 16);
        }
        for (int k = 0; k < 4; k++) {
          for (int jj = 0; jj < 4; jj++) {
            preload(1024 + k * 64 + jj * 16, 0xc0000000 + jj * 16, 16, 16, 16, 16);
            compute_preloaded(k * 16, 0xffffffff, 16, 16, 16, 16);
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
