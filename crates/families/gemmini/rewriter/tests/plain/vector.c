// is: product 250x1x300
// A vector that a matrix is multiplied with is a single column of weights.
static int8_t clamped(int32_t value) { return value > 127 ? 127 : value < -128 ? -128 : value; }

void solution(int8_t W[250][300], int8_t x[300], int32_t b[250], int8_t y[250]) {
  for (int i = 0; i < 250; i++) {
    int32_t dot = b[i];
    for (int j = 0; j < 300; j++) dot += W[i][j] * x[j];
    y[i] = clamped(dot);
  }
}
