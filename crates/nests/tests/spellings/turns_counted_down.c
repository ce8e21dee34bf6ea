// parts: vectors, vectors, vectors
// X float32 90 input
// Y float32 90 output
void solution(float X[90], float Y[90]) {
  const float *in = X;
  float *out = Y;
  size_t batch = 30 * sizeof(float);
  do {
    *out++ = *in++ * 2.0f;
    batch -= sizeof(float);
  } while (batch != 0);
  int n = 30;
  while (n--) {
    *out++ = *in++ + 1.0f;
  }
  int k = 30;
  do {
    *out++ = *in++ - 1.0f;
  } while (--k);
}
