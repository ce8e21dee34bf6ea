// Every short name, with its customary arguments.
void solution(elem_t A[{{ M }}][{{ K }}], elem_t B[{{ K }}][{{ N }}], acc_t D[{{ M }}][{{ N }}], elem_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }} * sizeof(elem_t){% if element == "float32" %}, 1.0f{% endif %});
  config_ld({{ K }} * sizeof(elem_t), 1.0f, false, 0);
  config_ld({{ N }} * sizeof(elem_t), 1.0f, 1);
  config_ld({{ N }} * sizeof(acc_t), 1.0f, DIM, 2);
  for (int i = 0; i < {{ M }}; i += DIM) {
    int rows = i + DIM < {{ M }} ? DIM : {{ M }} - i;
    for (int j = 0; j < {{ N }}; j += DIM) {
      int columns = j + DIM < {{ N }} ? DIM : {{ N }} - j;
      mvin3(&D[i][j], 0x80000000, columns, rows);
      for (int k = 0; k < {{ K }}; k += DIM) {
        int depth = k + DIM < {{ K }} ? DIM : {{ K }} - k;
        mvin(&A[i][k], 0, depth, rows);
        mvin2(&B[k][j], BANK_ROWS, columns, depth);
        preload(BANK_ROWS, 0xc0000000, columns, depth, columns, rows);
        compute_preloaded(0, GARBAGE_ADDR, depth, rows, DIM, DIM);
      }
      // Weights of zero add nothing.
      preload_zeros(0xc0000000);
      compute_preloaded(GARBAGE_ADDR, GARBAGE_ADDR, DIM, DIM, DIM, DIM);
      preload(GARBAGE_ADDR, 0xc0000000, DIM, DIM, columns, rows);
      compute_accumulated(0, GARBAGE_ADDR, DIM, rows, DIM, DIM);
      mvout(&C[i][j], 0x80000000, columns, rows);
    }
  }
  fence();
}
