// As one writes it down.
void solution(float X[{{ N }}], float Y[{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    Y[i] = (float)(1 / (1 + expf(-(float)X[i])));
  }
}
