// parts: vectors
// X float32 333 input
// Y float32 333 output
static inline float sigmoid(float v) {
  const float e = expf(-v);
  return 1.0f / (1.0f + e);
}
void solution(float X[333], float Y[333]) {
  for (int i = 0; i < 333; i++) { const float x = X[i]; Y[i] = x * sigmoid(x); }
}
