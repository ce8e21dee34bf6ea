// As one writes it down, in binary64.
void solution(float A[{{ M }}][{{ E }}], int32_t I[{{ M }}][{{ E }}], float X[{{ M }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0;
    for (int e = 0; e < {{ E }}; e++) {
      sum += (double)A[i][e] * X[I[i][e]];
    }
    Y[i] = (float)sum;
  }
}
