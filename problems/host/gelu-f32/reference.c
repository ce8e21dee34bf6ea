// The definition, in binary64.
void solution(float X[{{ N }}], float Y[{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    double x = X[i];
    Y[i] = (float)(0.5 * x * (1.0 + erf(x * 0.70710678118654752440)));
  }
}
