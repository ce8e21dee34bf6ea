// parts: vectors, vectors
// X float32 501 input
// K int32 501 input
// Y float32 2 output
// Z int32 2 output
void solution(float X[501], int32_t K[501], float Y[2], int32_t Z[2]) {
  float top = -3.0f, least = 1.5f;
  int32_t most = -200, few = 77;
  for (int i = 0; i < 501; i++) {
    if (K[i] > 100) top = fmaxf(top, X[i]);
    if (K[i] < 0) if (X[i] < least) least = X[i];
  }
  for (int i = 0; i < 501; i++) {
    if (X[i] > 0) { if (K[i] > most) most = K[i]; }
    if (X[i] < 1.9f) few = K[i] < few ? K[i] : few;
  }
  Y[0] = top; Y[1] = least; Z[0] = most; Z[1] = few;
}
