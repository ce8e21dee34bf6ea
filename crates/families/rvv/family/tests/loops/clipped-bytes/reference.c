// The definition.
void solution(uint8_t X[301], uint8_t Y[301], uint8_t Z[301]) {
  for (int i = 0; i < 301; i++) {
    int32_t sum = (11 * X[i] - 4 * Y[i] + 4) >> 3;
    Z[i] = sum < 0 ? 0 : sum > 255 ? 255 : sum;
  }
}
