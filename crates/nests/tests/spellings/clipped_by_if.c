// parts: vectors
// x float32 333 input
// y float32 333 output
void solution(const float *x, float *y) {
  for (int i = 0; i < 333; i++) {
    float t = x[i] * 1.5f;
    if (t > 1.0f) t = 1.0f;
    else if (t < -1.0f) t = -1.0f;
    y[i] = t;
  }
}
