for (int i = 0; i < 32; i++) {
  for (int k = 0; k < 8; k++) {
    if (i == 0) {
      mvin2(&B[k * 16][0], 4096 + k * 64, 64, 16);
    }
    // computes with the four tiles at rows 4096 + k * 64 to 4096 + k * 64 + 63
  }
}
