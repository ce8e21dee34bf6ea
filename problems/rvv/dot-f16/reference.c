// The definition, in binary64; no number is infinite.
static double number(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023;
  double size = exponent == 0 ? fraction / 1024.0 / 16384.0 : 1.0 + fraction / 1024.0;
  for (int i = exponent; i > 15; i--) {
    size *= 2.0;
  }
  for (int i = exponent; i > 0 && i < 15; i++) {
    size /= 2.0;
  }
  return bits >> 15 ? -size : size;
}

void solution(uint16_t X[{{ M }}][{{ N }}], uint16_t Y[{{ M }}][{{ N }}], float S[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    double sum = 0.0;
    for (int j = 0; j < {{ N }}; j++) {
      sum += number(X[i][j]) * number(Y[i][j]);
    }
    S[i] = (float)sum;
  }
}
