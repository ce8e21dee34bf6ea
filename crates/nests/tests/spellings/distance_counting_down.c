// parts: vectors
// X float32 333 input
// Z float32 333 input
// Y float32 1 output
void solution(float *X, float *Z, float *Y) {
  float s = 0.0f;
  for (int i = 332; i >= 0; --i) { float d = X[i] - Z[i]; s += d * d; }
  *Y = s;
}
