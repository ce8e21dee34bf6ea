// Loops in an order that the compiler turns into vector code by itself.
void solution(int8_t A[restrict {{ M }}][{{ K }}], int8_t B[restrict {{ K }}][{{ N }}], int32_t C[restrict {{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      C[i][j] = 0;
    }
    for (int k = 0; k < {{ K }}; k++) {
      for (int j = 0; j < {{ N }}; j++) {
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}
