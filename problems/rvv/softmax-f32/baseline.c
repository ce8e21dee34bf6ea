// As one writes it down.
void solution(float X[{{ M }}][{{ N }}], float Y[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float top = X[i][0];
    for (int j = 1; j < {{ N }}; j++) {
      top = X[i][j] > top ? X[i][j] : top;
    }
    float sum = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] = expf(X[i][j] - top);
      sum += Y[i][j];
    }
    for (int j = 0; j < {{ N }}; j++) {
      Y[i][j] /= sum;
    }
  }
}
