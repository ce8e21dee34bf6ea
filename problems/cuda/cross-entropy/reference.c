// The definition, in binary64.
void solution(float X[{{ M }}][{{ N }}], int32_t L[{{ M }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double top = X[i][0], sum = 0;
    for (int j = 1; j < {{ N }}; j++) {
      top = X[i][j] > top ? X[i][j] : top;
    }
    for (int j = 0; j < {{ N }}; j++) {
      sum += exp(X[i][j] - top);
    }
    Y[i] = (float)(log(sum) + top - X[i][L[i]]);
  }
}
