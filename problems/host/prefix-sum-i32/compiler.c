// The same, with buffers that do not overlap, which the compiler may use.
void solution(int32_t X[restrict {{ N }}], int32_t Y[restrict {{ N }}]) {
  int32_t sum = 0;
  for (int i = 0; i < {{ N }}; i++) {
    sum += X[i];
    Y[i] = sum;
  }
}
