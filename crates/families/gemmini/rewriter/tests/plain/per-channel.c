// is: product 30x44x52, weights transposed, at full width, then the core
// A factor in fixed point for each channel, as networks for small devices have.
static int32_t doubled_high(int32_t a, int32_t b) {
  int64_t product = (int64_t)a * (int64_t)b;
  int32_t nudge = product >= 0 ? (1 << 30) : (1 - (1 << 30));
  return (int32_t)((product + nudge) / (1ll << 31));
}
static int32_t shifted(int32_t x, int exponent) {
  const int32_t mask = (1 << exponent) - 1;
  const int32_t rest = x & mask;
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (rest > threshold ? 1 : 0);
}
void solution(int8_t x[30][52], int8_t w[44][52], int32_t bias[44], int32_t factor[44], int8_t y[30][44]) {
  for (int i = 0; i < 30; i++)
    for (int o = 0; o < 44; o++) {
      int32_t acc = bias[o];
      for (int d = 0; d < 52; d++) acc += x[i][d] * w[o][d];
      acc = shifted(doubled_high(acc, factor[o]), 3);
      acc += -5;
      acc = acc < -128 ? -128 : acc;
      acc = acc > 127 ? 127 : acc;
      y[i][o] = (int8_t)acc;
    }
}
