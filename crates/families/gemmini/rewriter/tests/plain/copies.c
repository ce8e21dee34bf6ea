// is: product 32x64x48, at full width
void solution(const int8_t *a, const int8_t *w, const int32_t *bias, int32_t *out) {
  static int32_t acc[64];
  for (int i = 0; i < 32; i++) {
    memcpy(acc, bias, 64 * sizeof(int32_t));
    for (int k = 0; k < 48; k++)
      for (int j = 0; j < 64; j++) acc[j] += a[i * 48 + k] * w[k * 64 + j];
    __builtin_memcpy(out + i * 64, acc, sizeof(acc));
  }
}
