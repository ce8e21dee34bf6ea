// The same, with buffers that do not overlap and sums in any order, which the compiler may use.
void solution(float X[restrict {{ N }}], float Y[restrict {{ N }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ N }}; i++) {
    Y[i] = 0.5f * X[i] * (1.0f + erff(X[i] * 0.70710678f));
  }
}
