for (int k = 0; k < 512; k++) {
  __m512i b = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)&B[k][j]));
  sums = _mm512_add_epi32(sums, _mm512_mullo_epi32(_mm512_set1_epi32(A[i][k]), b));
}
