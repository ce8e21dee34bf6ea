// In binary64.
void solution(float X[{{ N }}], float Y[1]) {
  double sum = 0;
  for (int i = 0; i < {{ N }}; i++) {
    sum += X[i];
  }
  Y[0] = (float)sum;
}
