for (int j = 0; j < 333; j += 16) {
  __mmask16 there = 333 - j < 16 ? (1u << (333 - j)) - 1 : 0xffff;
  __m512 x = _mm512_maskz_loadu_ps(there, &X[i][j]);
  _mm512_mask_storeu_ps(&Y[i][j], there, _mm512_mul_ps(x, scale));
}
