// The definition, with sums in binary64.
void solution(int32_t J[{{ M }}][{{ E }}], float A[{{ M }}][{{ E }}], float X[{{ N }}], float Y[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0;
    for (int e = 0; e < {{ E }}; e++) {
      sum += (double)A[i][e] * X[J[i][e]];
    }
    Y[i] = (float)sum;
  }
}
