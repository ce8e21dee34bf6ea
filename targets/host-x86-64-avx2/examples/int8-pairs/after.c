// pairs[k / 2][j]: B[k][j] and B[k + 1][j] as two int16, packed once.
for (int k = 0; k < 512; k += 2) {
  __m256i b = _mm256_load_si256((const __m256i *)&pairs[k / 2][j]);
  int32_t two = (uint16_t)A[i][k] | (uint32_t)(uint16_t)A[i][k + 1] << 16;
  sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_set1_epi32(two), b));
}
