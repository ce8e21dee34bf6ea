for (int i = 0; i < 32; i++) {
  for (int k = 0; k < 8; k++) {
    mvin2(&B[k * 16][0], 4096, 64, 16);
    // computes with the four tiles at rows 4096 to 4159
  }
}
