// The definition, in binary64. The format is the upper half of a float.
static double value(uint16_t bits) {
  uint32_t whole = (uint32_t)bits << 16;
  float result;
  memcpy(&result, &whole, 4);
  return result;
}

void solution(uint16_t A[{{ M }}][{{ K }}], uint16_t B[{{ K }}][{{ N }}], float C[{{ M }}][{{ N }}]) {
  static double b[{{ K }}][{{ N }}];
  for (int k = 0; k < {{ K }}; k++) {
    for (int j = 0; j < {{ N }}; j++) {
      b[k][j] = value(B[k][j]);
    }
  }
  for (int i = 0; i < {{ M }}; i++) {
    double sum[{{ N }}];
    for (int j = 0; j < {{ N }}; j++) {
      sum[j] = 0;
    }
    for (int k = 0; k < {{ K }}; k++) {
      double a = value(A[i][k]);
      for (int j = 0; j < {{ N }}; j++) {
        sum[j] += a * b[k][j];
      }
    }
    for (int j = 0; j < {{ N }}; j++) {
      C[i][j] = (float)sum[j];
    }
  }
}
