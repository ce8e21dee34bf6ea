// parts: vectors
// X int32 500 input
// Y int32 500 output
void solution(int32_t X[500], int32_t Y[500]) {
  for (int i = 0; i < 250; i++) {
    int32_t x_0 = X[2 * i];
    int32_t x_1 = X[2 * i + 1];
    int32_t one = x_1;
    int32_t other = x_0;
    x_0 = one;
    x_1 = other;
    Y[2 * i] = x_0;
    Y[2 * i + 1] = x_1;
  }
}
