// As one writes it down.
void solution(float X[{{ N }}], float Y[{{ N }}], float S[1]) {
  float top = X[0];
  for (int i = 1; i < {{ N }}; i++) {
    top = X[i] > top ? X[i] : top;
  }
  float sum = 0;
  for (int i = 0; i < {{ N }}; i++) {
    float power = expf(X[i] - top);
    Y[i] = (float)power;
    sum += power;
  }
  S[0] = (float)sum;
}
