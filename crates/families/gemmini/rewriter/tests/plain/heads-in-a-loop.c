// is: product 48x48x16, weights transposed, 4 times, at full width; product 48x16x48, 4 times, at full width, then the core
#define T 48
#define H 4
#define D 16
void solution(const int8_t *qkv, int8_t *out) {
  for (int h = 0; h < H; h++) {
    int32_t s[T][T];
    int8_t p[T][T];
    const int8_t *q = qkv + h * D, *k = qkv + H * D + h * D, *v = qkv + 2 * H * D + h * D;
    for (int i = 0; i < T; i++)
      for (int j = 0; j < T; j++) {
        int32_t acc = 0;
        for (int d = 0; d < D; d++) acc += q[i * 3 * H * D + d] * k[j * 3 * H * D + d];
        s[i][j] = acc;
      }
    for (int i = 0; i < T; i++) {
      int32_t m = -2147483647;
      for (int j = 0; j < T; j++) m = s[i][j] > m ? s[i][j] : m;
      int32_t sum = 1;
      for (int j = 0; j < T; j++) { int32_t e = (m - s[i][j]) >> 8; s[i][j] = e > 12 ? 0 : 4096 >> e; sum += s[i][j]; }
      for (int j = 0; j < T; j++) p[i][j] = (int8_t)(s[i][j] * 127 / sum);
    }
    for (int i = 0; i < T; i++)
      for (int d = 0; d < D; d++) {
        int32_t acc = 0;
        for (int j = 0; j < T; j++) acc += p[i][j] * v[j * 3 * H * D + d];
        out[i * H * D + h * D + d] = (int8_t)(acc >> 7);
      }
  }
}
