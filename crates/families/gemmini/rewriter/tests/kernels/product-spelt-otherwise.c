#define ROWS 48
#define SIDE (2 * DIM)
#define TILE DIM

static void bring(const int8_t *from, uint32_t to, int wide) {
  gemmini_extended_mvin(from, to, wide, TILE);
}

static inline int block_of(int at) { return at / TILE; }

void solution(int8_t A[ROWS][SIDE], int8_t B[SIDE][64], int8_t *C) {
  gemmini_config_ex(WEIGHT_STATIONARY, 0, 0);
  gemmini_extended_config_st(64, 0, 1.0f);
  gemmini_extended3_config_ld(64, 1.0f, false, 1);
  const int8_t *weights = &B[0][0];
  int8_t *to = C;
  int row = 0;
  while (row < ROWS) {
    gemmini_extended_config_ld(SIDE, 1.0f);
    bring(&A[row][0], 0, SIDE);
    for (int j = 0; j < 64; j += TILE) {
      uint32_t sum = 0x80000000 + (block_of(j) << 4);
      for (int k = 0; k != SIDE; k += TILE) {
        gemmini_extended_mvin2(weights + k * 64 + j, 2048, TILE, TILE);
        gemmini_preload(2048, k ? sum | 0x40000000 : sum);
        gemmini_compute_preloaded(k, GARBAGE_ADDR);
      }
      gemmini_mvout(to + j, sum);
    }
    to += 64 * TILE;
    row += TILE;
  }
  gemmini_fence();
}
