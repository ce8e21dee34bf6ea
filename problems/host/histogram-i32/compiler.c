// The same, with buffers that do not overlap, which the compiler may use.
void solution(int32_t X[restrict {{ N }}], int32_t H[restrict {{ B }}]) {
  for (int b = 0; b < {{ B }}; b++) {
    H[b] = 0;
  }
  for (int i = 0; i < {{ N }}; i++) {
    H[X[i]]++;
  }
}
