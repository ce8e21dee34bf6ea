// parts: vectors
// X float32 333 input
// Y float32 333 output
static const float slope = 0.01;
void solution(float X[333], float Y[333]) {
  for (int i = 0; i < 333; i++) {
    if (X[i] >= 0) {
      Y[i] = X[i];
    } else {
      Y[i] = slope * X[i];
    }
  }
}
