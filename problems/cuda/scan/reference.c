// As one writes it down.
void solution(int32_t X[{{ N }}], int32_t Y[{{ N }}]) {
  int32_t sum = 0;
  for (int i = 0; i < {{ N }}; i++) {
    sum += X[i];
    Y[i] = sum;
  }
}
