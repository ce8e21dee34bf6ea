// The definition, in binary64.
void solution(float X[{{ N }}], float Y[{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    Y[i] = (float)(0.5 * X[i] * (1.0 + erf(X[i] * 0.70710678118654752)));
  }
}
