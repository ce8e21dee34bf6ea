// The same, with buffers that do not overlap, which the compiler may use.
void solution(float X[restrict {{ M }}][{{ N }}], float Y[restrict {{ N }}][{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      Y[j][i] = X[i][j];
    }
  }
}
