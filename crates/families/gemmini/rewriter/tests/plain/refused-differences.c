// refused: line 3: what `C` is given: its products are multiplied by a number; sums of products of two arrays of the accelerator's operands are raised if they stand in statements of their own
void solution(int8_t A[32][32], int8_t B[32][32], int32_t C[32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 32; k++) {
        int32_t difference = A[i][k] - B[j][k];
        sum += difference * difference;
      }
      C[i][j] = sum;
    }
}
