// parts: vectors
// X float32 1024 input
// Y float32 1024 output
#include <math.h>
void solution(float X[1024], float Y[1024]) {
  for (int i = 0; i < 1024; i++) {
    float x = isnan(X[i]) || isinf(X[i]) ? 0.0f : X[i];
    float y = floorf(x * 0.3333333333333333333333333333333333333333f) + ceilf(x) - truncf(x);
    Y[i] = isfinite(y) ? y : 1.0f;
  }
}
