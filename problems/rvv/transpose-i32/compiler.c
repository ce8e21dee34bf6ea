// Rows of Y, told that the buffers are apart, so that the compiler loads columns of X with a stride.
void solution(int32_t X[restrict {{ M }}][{{ N }}], int32_t Y[restrict {{ N }}][{{ M }}]) {
  for (int j = 0; j < {{ N }}; j++) {
    for (int i = 0; i < {{ M }}; i++) {
      Y[j][i] = X[i][j];
    }
  }
}
