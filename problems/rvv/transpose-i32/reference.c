// The definition.
void solution(int32_t X[{{ M }}][{{ N }}], int32_t Y[{{ N }}][{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      Y[j][i] = X[i][j];
    }
  }
}
