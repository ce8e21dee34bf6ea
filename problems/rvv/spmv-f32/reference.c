// The definition, with sums in binary64.
void solution(float V[{{ M }}][{{ K }}], uint32_t I[{{ M }}][{{ K }}], float X[{{ N }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0;
    for (int k = 0; k < {{ K }}; k++) {
      sum += (double)V[i][k] * X[I[i][k]];
    }
    Y[i] = (float)sum;
  }
}
