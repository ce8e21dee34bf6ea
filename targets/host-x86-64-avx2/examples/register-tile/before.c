for (int i = 0; i < 384; i++) {
  for (int j = 0; j < 256; j++) {
    float sum = 0.0f;
    for (int k = 0; k < 192; k++) {
      sum += A[i][k] * B[k][j];
    }
    C[i][j] = sum;
  }
}
