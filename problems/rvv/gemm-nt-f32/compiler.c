// The plain loops, and the compiler is told that sums may be made in any order, so that it uses vectors.
void solution(float A[restrict {{ M }}][{{ K }}], float B[restrict {{ N }}][{{ K }}], float C[restrict {{ M }}][{{ N }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      float sum = 0.0f;
      for (int k = 0; k < {{ K }}; k++) {
        sum += A[i][k] * B[j][k];
      }
      C[i][j] = sum;
    }
  }
}
