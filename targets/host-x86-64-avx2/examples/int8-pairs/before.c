for (int k = 0; k < 512; k++) {
  __m256i b = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)&B[k][j]));
  __m256i a = _mm256_set1_epi32(A[i][k]);
  sums = _mm256_add_epi32(sums, _mm256_mullo_epi32(a, b));
}
