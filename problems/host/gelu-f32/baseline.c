// As one writes it down.
void solution(float X[{{ N }}], float Y[{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    Y[i] = 0.5f * X[i] * (1.0f + erff(X[i] * 0.70710678f));
  }
}
