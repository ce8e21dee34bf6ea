// parts: vectors
// x int8 510 input
// y int8 500 output
void solution(int8_t x[510], int8_t y[500]) {
  for (int i = 0; i < 500; i++) {
    int sum = 3 * x[i] + 10 * x[i + 1] + 3 * x[i + 2] + 8;
    sum >>= 4;
    y[i] = (int8_t)sum;
  }
}
