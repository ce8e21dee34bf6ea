// is: product 1x250x300
// A row of the matrix goes into all results: nothing has to be turned as it lies.
static int8_t clamped(int32_t value) { return value > 127 ? 127 : value < -128 ? -128 : value; }

void solution(int8_t x[300], int8_t W[300][250], int8_t y[250]) {
  for (int i = 0; i < 250; i++) {
    int32_t dot = 0;
    for (int j = 0; j < 300; j++) dot += x[j] * W[j][i];
    y[i] = clamped(dot);
  }
}
