// The definition, in binary64. Halves are read by their bits.
static double value(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent ? 1024 + fraction : fraction;
  for (int i = exponent ? exponent : 1; i < 25; i++) {
    magnitude /= 2;
  }
  for (int i = 25; i < exponent; i++) {
    magnitude *= 2;
  }
  return bits >> 15 ? -magnitude : magnitude;
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
