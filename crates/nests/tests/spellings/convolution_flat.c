// parts: product
// X float32 11,13,3 input
// F float32 5,5,3,24 input
// Y float32 4,5,24 output
#define W 13
#define C 3
#define O 24
void solution(const float *restrict X, const float *restrict F, float *restrict Y) {
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 5; x++)
      for (int o = 0; o < O; o++) {
        float acc = 0.0f;
        for (int r = 0; r < 5; r++)
          for (int s = 0; s < 5; s++)
            for (int c = 0; c < C; c++)
              acc += X[((2 * y + r) * W + (2 * x + s)) * C + c] * F[((r * 5 + s) * C + c) * O + o];
        Y[(y * 5 + x) * O + o] = acc;
      }
}
