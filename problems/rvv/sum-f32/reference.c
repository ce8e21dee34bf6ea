// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], float S[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      sum += X[i][j];
    }
    S[i] = (float)sum;
  }
}
