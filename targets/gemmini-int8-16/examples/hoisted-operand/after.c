for (int i = 0; i < 32; i++) {
  for (int ko = 0; ko < 8; ko++) {
    mvin(&A[i * 16][ko * 64], ko * 64, 64, 16);
  }
  for (int j = 0; j < 8; j++) {
    for (int ko = 0; ko < 8; ko++) {
      // computes with the four tiles at rows ko * 64 to ko * 64 + 63
    }
  }
}
