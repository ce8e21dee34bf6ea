// As one writes it down.
void solution(float V[{{ M }}][{{ K }}], uint32_t I[{{ M }}][{{ K }}], float X[{{ N }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float sum = 0;
    for (int k = 0; k < {{ K }}; k++) {
      sum += (float)V[i][k] * X[I[i][k]];
    }
    Y[i] = (float)sum;
  }
}
