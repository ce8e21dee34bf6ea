// is: convolution 3x3, stride 1, of 16 channels, 64x16
void solution(const int8_t *in, const int8_t *weights, int8_t *out) {
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++)
      for (int o = 0; o < 16; o++) {
        int32_t sum = 0;
        for (int v = 0; v < 3; v++)
          for (int u = 0; u < 3; u++)
            for (int c = 0; c < 16; c++)
              sum += in[((y + v) * 10 + x + u) * 16 + c] * weights[((v * 3 + u) * 16 + c) * 16 + o];
        out[(y * 8 + x) * 16 + o] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }
}
