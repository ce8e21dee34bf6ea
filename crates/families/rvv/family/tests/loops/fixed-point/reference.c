// The definition.
void solution(int16_t X[203], int16_t Y[203], int16_t P[203], int8_t Q[203]) {
  for (int i = 0; i < 203; i++) {
    int32_t product = (X[i] * Y[i] + 16384) >> 15;
    P[i] = product > 32767 ? 32767 : product < -32768 ? -32768 : product;
    int32_t wide = X[i] * 3 - Y[i];
    int32_t coarse = wide >> 9;
    Q[i] = coarse > 127 ? 127 : coarse < -128 ? -128 : coarse;
  }
}
