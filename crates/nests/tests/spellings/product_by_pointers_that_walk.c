// parts: product
// A float32 24,20 input
// B float32 40,20 input
// C float32 24,40 output
static float dot(const float *a, const float *b, int n) {
  float s = 0;
  for (int k = 0; k < n; k++) s += *a++ * *b++;
  return s;
}
void solution(const float *A, const float *B, float *C) {
  float *c = C;
  const float *a = A;
  for (int i = 0; i < 24; i++) {
    const float *b = B;
    for (int j = 0; j < 40; j++) {
      *c++ = dot(a, b, 20);
      b += 20;
    }
    a += 20;
  }
}
