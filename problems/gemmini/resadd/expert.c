// Hand schedule: blocks of {{ 64 if M % 64 == 0 else 112 }}x64 with moves of 64 columns, each block in accumulator
// rows of its own, in halves that take turns, so that one block leaves while
// the next comes in. The limit is the memory behind the L2, 8 bytes per cycle for
// A, B and C together.
void solution(int8_t A[{{ M }}][{{ N }}], int8_t B[{{ M }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 0);
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 1);
  uint64_t half = 0;
  for (int j = 0; j < {{ N }}; j += 64) {
    for (int i = 0; i < {{ M }}; i += {{ 64 if M % 64 == 0 else 112 }}) {
      for (int r = 0; r < {{ 4 if M % 64 == 0 else 7 }}; r++) {
        mvin(&A[i + r * 16][j], 0x80000000 + half + r * 64, 64, 16);
      }
      for (int r = 0; r < {{ 4 if M % 64 == 0 else 7 }}; r++) {
        mvin2(&B[i + r * 16][j], 0xc0000000 + half + r * 64, 64, 16);
      }
      for (int r = 0; r < {{ 4 if M % 64 == 0 else 7 }}; r++) {
        mvout(&C[i + r * 16][j], 0x80000000 + half + r * 64, 64, 16);
      }
      half ^= 512;
    }
  }
  fence();
}
