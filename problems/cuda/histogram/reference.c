// As one writes it down.
void solution(int32_t X[{{ N }}], int32_t Y[256]) {
  for (int i = 0; i < 256; i++) {
    Y[i] = 0;
  }
  for (int i = 0; i < {{ N }}; i++) {
    Y[X[i]]++;
  }
}
