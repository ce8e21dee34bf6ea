// The definition.
void solution(int8_t X[{{ N }}], int8_t Y[{{ N }}], int8_t Z[{{ N }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    int32_t sum = (37 * X[i] + 21 * Y[i] + 16) >> 5;
    Z[i] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
  }
}
