for (int i = 0; i < 384; i += 6) {
  for (int j = 0; j < 256; j += 16) {
    __m256 sums[6][2];
#pragma unroll
    for (int r = 0; r < 6; r++) {
      sums[r][0] = sums[r][1] = _mm256_setzero_ps();
    }
    for (int k = 0; k < 192; k++) {
      __m256 b0 = _mm256_loadu_ps(&B[k][j]);
      __m256 b1 = _mm256_loadu_ps(&B[k][j + 8]);
#pragma unroll
      for (int r = 0; r < 6; r++) {
        __m256 a = _mm256_broadcast_ss(&A[i + r][k]);
        sums[r][0] = _mm256_fmadd_ps(a, b0, sums[r][0]);
        sums[r][1] = _mm256_fmadd_ps(a, b1, sums[r][1]);
      }
    }
#pragma unroll
    for (int r = 0; r < 6; r++) {
      _mm256_storeu_ps(&C[i + r][j], sums[r][0]);
      _mm256_storeu_ps(&C[i + r][j + 8], sums[r][1]);
    }
  }
}
