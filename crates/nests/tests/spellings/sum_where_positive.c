// parts: vectors
// X float32 333 input
// Y float32 1 output
void solution(float X[333], float Y[1]) {
  float sum = 0;
  for (int i = 0; i < 333; i++) {
    if (X[i] <= 0.0f) continue;
    sum += X[i];
  }
  Y[0] = sum;
}
