// parts: vectors
// X float32 64 input
// Y float32 64 output
static float of_bits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
void solution(float X[64], float Y[64]) {
  for (int i = 0; i < 64; i++) {
    int32_t n = (int32_t)__builtin_rintf(X[i]);
    Y[i] = of_bits((n + 127) << 23);
  }
}
