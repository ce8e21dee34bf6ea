// The definition, in binary64.
void solution(float X[{{ N }}], float Y[{{ N }}], float S[1]) {
  double top = X[0];
  for (int i = 1; i < {{ N }}; i++) {
    top = X[i] > top ? X[i] : top;
  }
  double sum = 0;
  for (int i = 0; i < {{ N }}; i++) {
    double power = exp(X[i] - top);
    Y[i] = (float)power;
    sum += power;
  }
  S[0] = (float)sum;
}
