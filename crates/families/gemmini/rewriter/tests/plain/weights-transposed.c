// is: product 32x40x64, weights transposed
static inline int32_t dot(const int8_t *x, const int8_t *w, int n) {
  int32_t sum = 0;
  for (int k = 0; k < n; k++) sum += (int32_t)x[k] * (int32_t)w[k];
  return sum;
}
void solution(int8_t X[32][64], int8_t W[40][64], int8_t Y[32][40]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 40; j++) {
      int32_t v = dot(X[i], W[j], 64);
      Y[i][j] = v > 127 ? 127 : v < -128 ? -128 : v;
    }
}
