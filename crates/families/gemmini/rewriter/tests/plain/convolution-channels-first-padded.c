// is: product 72x32x144, weights transposed, at full width, then the core
#define AT(n, c, y, x) in[(((n) * 16 + (c)) * 12 + (y)) * 12 + (x)]
void solution(const int8_t *in, const int8_t *kernel, const int32_t *bias, int8_t *out) {
  for (int n = 0; n < 2; n++)
    for (int o = 0; o < 32; o++)
      for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++) {
          int32_t sum = bias[o];
          for (int c = 0; c < 16; c++)
            for (int v = 0; v < 3; v++)
              for (int u = 0; u < 3; u++) {
                int yy = 2 * y + v - 1, xx = 2 * x + u - 1;
                if (yy < 0 || yy >= 12 || xx < 0 || xx >= 12) continue;
                sum += AT(n, c, yy, xx) * kernel[((o * 16 + c) * 3 + v) * 3 + u];
              }
          sum = sum < 0 ? 0 : sum >> 6;
          out[((n * 32 + o) * 6 + y) * 6 + x] = sum > 127 ? 127 : sum;
        }
}
