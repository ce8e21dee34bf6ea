// Commands taken apart: function and both operands of each instruction.
static uint64_t tile(uint32_t row, uint64_t columns, uint64_t rows) {
  return (rows << 48) | (columns << 32) | row;
}

void solution(int8_t A[32][48], int8_t B[48][32], int8_t C[32][32]) {
  GEMMINI_ISSUE(0, ((uint64_t)1 << 16) | (1 << 2), (uint64_t)1 << 48);
  GEMMINI_ISSUE(0, 2, (gemmini_float_bits(1.0f) << 32) | 32);
  GEMMINI_ISSUE(0, (gemmini_float_bits(1.0f) << 32) | (16 << 16) | (1 << 8) | 1, 48);
  GEMMINI_ISSUE(0, ((uint64_t)0x3f800000 << 32) | (16 << 16) | (1 << 8) | (1 << 3) | 1, 32);
  for (int i = 0; i < 32; i += 16) {
    for (int j = 0; j < 32; j += 16) {
      for (int k = 0; k < 48; k += 16) {
        GEMMINI_ISSUE_DMA(2, &A[i][k], tile(0, 16, 16));
        ROCC_INSTRUCTION_RS1_RS2(3, (uint64_t)&B[k][j], tile(4096, 16, 16), 1);
        GEMMINI_ISSUE(GEMMINI_FUNCT_PRELOAD, tile(4096, 16, 16), tile(k == 0 ? 0x80000000 : 0xc0000000, 16, 16));
        GEMMINI_ISSUE(4, tile(0, 16, 16), tile(GARBAGE_ADDR, 16, 16));
      }
      GEMMINI_ISSUE_DMA(3, &C[i][j], tile(0x80000000, 16, 16));
    }
  }
  gemmini_fence();
}
