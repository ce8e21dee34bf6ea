// As one writes it down.
void solution(float X[{{ N }}], float Y[{{ N }}], float Z[{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    Z[i] = X[i] + Y[i];
  }
}
