// Loops in an order that the compiler turns into vector code by itself.
void solution(float A[restrict {{ M }}][{{ K }}], float B[restrict {{ K }}][{{ N }}], float C[restrict {{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      C[i][j] = 0.0f;
    }
    for (int k = 0; k < {{ K }}; k++) {
      for (int j = 0; j < {{ N }}; j++) {
        C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}
