for (int j = 0; j < 1024; j += 16) {
  for (int i = 0; i < 1024; i += 6) {
    // reads B[0 … 1023][j … j + 15]
    tile(i, j);
  }
}
