// refused: line 4: an array that is given elements again after it was read; sums of products of two arrays of the accelerator's operands are raised if they stand in statements of their own
// The sum takes what the step before has written.
void solution(int8_t A[32][32], int8_t C[33][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      int32_t most = 0;
      int32_t sum = 0;
      for (int k = 0; k < 32; k++) sum += C[i][k] * A[k][j];
      if (sum > most) most = sum;
      C[i + 1][j] = most > 127 ? 127 : most;
    }
}
