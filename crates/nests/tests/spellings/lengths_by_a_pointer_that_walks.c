// parts: vectors
// X float32 1002 input
// Y float32 1 output
void solution(const float *X, float *Y) {
  float s = 0;
  const float *p = X;
  for (int i = 0; i < 501; i++) {
    float re = *p++;
    float im = *p++;
    s += re * re + im * im;
  }
  *Y = s;
}
