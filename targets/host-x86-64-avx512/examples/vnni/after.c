// fours[k / 4][j]: B[k … k + 3][j], packed once; offsets[j]: 128 times the sum of column j.
for (int k = 0; k < 512; k += 4) {
  int32_t four;
  memcpy(&four, &A[i][k], 4);
  __m512i a = _mm512_set1_epi32(four ^ (int32_t)0x80808080);
  __m512i b = _mm512_load_si512(&fours[k / 4][j]);
  sums = _mm512_dpbusd_epi32(sums, a, b);
}
sums = _mm512_sub_epi32(sums, _mm512_loadu_si512(&offsets[j]));
