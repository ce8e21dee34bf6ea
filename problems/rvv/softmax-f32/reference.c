// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double top = X[i][0];
    for (int j = 1; j < {{ N }}; j++) {
      top = X[i][j] > top ? X[i][j] : top;
    }
    double sum = 0;
    for (int j = 0; j < {{ N }}; j++) {
      sum += exp((double)X[i][j] - top);
    }
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = (float)(exp((double)X[i][j] - top) / sum);
    }
  }
}
