// refused: line 3: what is computed depends on the step before, and is no sum; sums of products of two arrays of the accelerator's operands are raised if they stand in statements of their own
void solution(int8_t A[32][32], int8_t B[32][32], int8_t C[32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      int8_t sum = 0;
      for (int k = 0; k < 32; k++) sum = (int8_t)((sum + A[i][k] * B[k][j]) / 2);
      C[i][j] = sum;
    }
}
