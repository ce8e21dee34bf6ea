// parts: vectors
// X float32 333 input
// Y float32 333 output
#define CLAMP(x, lo, hi) fminf(fmaxf((x), (lo)), (hi))
void solution(float X[333], float Y[333]) {
  for (int i = 0; i < 333; ++i) Y[i] = CLAMP(2.0f * X[i], -1.0f, 1.0f) + fabsf(X[i]);
}
