// The definition.
void solution(float X[211], float Y[211], float Z[211]) {
  for (int i = 0; i < 211; i++) {
    float x = X[i];
    Y[i] = expf(x * 0.5f) / (1.0f + fabsf(x));
    Z[i] = x > 0.0f && x < 5.0f ? sqrtf(Y[i]) : 2.0f - Y[i] * x;
  }
}
