// refused: line 4: what is computed depends on the step before, and is no sum; sums of products of two arrays of the accelerator's operands are raised if they stand in statements of their own
void solution(int8_t A[32][32], int8_t C[32]) {
  int unused = 0;
  for (int i = 0; i < 32; i++) {
    int8_t most = -128;
    for (int k = 0; k < 32; k++) most = A[i][k] > most ? A[i][k] : most;
    C[i] = most;
  }
}
