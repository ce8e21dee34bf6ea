// parts: product
// A float32 3,8,20 input
// B float32 3,20,40 input
// C float32 3,8,40 output
void solution(const float *A, const float *B, float *C) {
  for (int n = 0; n < 3; n++) {
    const float *a = A + n * 8 * 20;
    const float *b = B + n * 20 * 40;
    float *c = C + n * 8 * 40;
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 40; j++) {
        float sum = 0;
        for (int k = 0; k < 20; k++) sum += a[i * 20 + k] * b[k * 40 + j];
        c[i * 40 + j] = sum;
      }
  }
}
