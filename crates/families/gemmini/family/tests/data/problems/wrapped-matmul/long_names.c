// The names of the usual library.
void solution(elem_t A[{{ M }}][{{ K }}], elem_t B[{{ K }}][{{ N }}], acc_t D[{{ M }}][{{ N }}], elem_t C[{{ M }}][{{ N }}]) {
  gemmini_flush(0);
  counter_reset();
  counter_configure(0, 24);
  gemmini_extended_config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, 1, false, false);
  gemmini_extended_config_st({{ N }} * sizeof(elem_t), NO_ACTIVATION, ACC_SCALE_IDENTITY);
  gemmini_extended3_config_ld({{ K }} * sizeof(elem_t), MVIN_SCALE_IDENTITY, false, 0);
  gemmini_extended4_config_ld({{ N }} * sizeof(elem_t), MVIN_SCALE_IDENTITY, false, DIM, 1);
  gemmini_extended5_config_ld({{ N }} * sizeof(acc_t), MVIN_SCALE_IDENTITY, false, DIM, 1, 2);
  for (int i = 0; i < {{ M }}; i += DIM) {
    int rows = i + DIM < {{ M }} ? DIM : {{ M }} - i;
    for (int k = 0; k < {{ K }}; k += DIM) {
      int depth = k + DIM < {{ K }} ? DIM : {{ K }} - k;
      gemmini_extended_mvin(&A[i][k], k, depth, rows);
    }
    for (int j = 0; j < {{ N }}; j += 2 * DIM) {
      // Two tiles side by side with the same rows of A where there are two.
      int width = j + 2 * DIM < {{ N }} ? 2 * DIM : {{ N }} - j;
      for (int x = 0; x < width; x += DIM) {
        int columns = x + DIM < width ? DIM : width - x;
        gemmini_extended_mvin3(&D[i][j + x], 0x80000000 + x, columns, rows);
        for (int k = 0; k < {{ K }}; k += DIM) {
          int depth = k + DIM < {{ K }} ? DIM : {{ K }} - k;
          gemmini_extended_mvin2(&B[k][j + x], BANK_ROWS, columns, depth);
          // In two parts of rows, the second with the weights in the array.
          gemmini_extended_preload(BANK_ROWS, 0xc0000000 + x, columns, depth, columns, 1);
          gemmini_extended_compute_preloaded(k, GARBAGE_ADDR, depth, 1, DIM, DIM);
          gemmini_extended_preload(GARBAGE_ADDR, 0xc0000001 + x, DIM, DIM, columns, rows - 1);
          gemmini_extended_compute_accumulated(k + 1, GARBAGE_ADDR, depth, rows - 1, DIM, DIM);
        }
        gemmini_extended_mvout(&C[i][j + x], 0x80000000 + x, columns, rows);
      }
    }
  }
  counter_snapshot_take();
  counter_read(0);
  counter_snapshot_reset();
  gemmini_fence();
}
