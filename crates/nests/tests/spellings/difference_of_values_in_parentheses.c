// parts: vectors
// X float32 13,37 input
// Z float32 13,37 input
// Y float32 13,37 output
#define AT(r, c) ((r) * 37 + (c))
#define BLEND(a, b, t) ((a) - (b) * (t))
#define LIFTED(a, b) ((a) + (b) * 2.0f)
void solution(const float *X, const float *Z, float *Y) {
  for (int i = 0; i < 13; i++) {
    for (int j = 0; j < 37; j++) {
      float x = X[AT(i, j)];
      float z = Z[AT(i, j)];
      Y[AT(i, j)] = LIFTED(x, BLEND(z, x, 0.25f));
    }
  }
}
