// refused: what `C` is given: a sum of 8 becomes 1 on the core, but 0 on the accelerator, which multiplies by 0.0625 and rounds to the nearest, halves to even
void solution(int8_t A[32][32], int8_t B[32][32], int8_t C[32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 32; k++) sum += A[i][k] * B[k][j];
      sum = (sum + 8) >> 4;
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
}
