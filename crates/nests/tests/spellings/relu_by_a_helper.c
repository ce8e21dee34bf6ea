// parts: vectors
// X float32 333 input
// Y float32 333 output
static float relu(float x) { if (x < 0) return 0; return x; }
void solution(float X[333], float Y[333]) {
  for (size_t i = 333; i-- > 0;) { Y[i] = relu(X[i]); }
}
