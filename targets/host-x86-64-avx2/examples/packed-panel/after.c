static float panel[1024][16] __attribute__((aligned(64)));
for (int j = 0; j < 1024; j += 16) {
  for (int k = 0; k < 1024; k++) {
    _mm256_store_ps(&panel[k][0], _mm256_loadu_ps(&B[k][j]));
    _mm256_store_ps(&panel[k][8], _mm256_loadu_ps(&B[k][j + 8]));
  }
  for (int i = 0; i < 1024; i += 6) {
    // reads panel[0 … 1023][0 … 15]
    tile_of_panel(i, j);
  }
}
