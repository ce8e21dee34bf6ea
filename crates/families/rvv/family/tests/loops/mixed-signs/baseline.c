void solution(int8_t X[157], uint8_t Y[157], int32_t P[157], uint8_t W[157]) {
  for (int i = 0; i < 157; i++) {
    P[i] = X[i] * Y[i] - 1000 * X[i] + (X[i] > 5 ? Y[i] : 3) + (Y[i] & 15) / 3 - (i << 2);
    W[i] = (uint8_t)(X[i] + 3 * Y[i]);
  }
}
