for (int i = 0; i < 32; i++) {
  for (int j = 0; j < 8; j++) {
    for (int ko = 0; ko < 8; ko++) {
      mvin(&A[i * 16][ko * 64], 0, 64, 16);
      // computes with the four tiles at rows 0 to 63
    }
  }
}
