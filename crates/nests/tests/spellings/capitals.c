// parts: vectors
// x int8 501 input
// y int8 501 output
void solution(int8_t x[501], int8_t y[501]) {
  for (int i = 0; i < 501; i++) {
    int c = x[i];
    y[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
  }
}
