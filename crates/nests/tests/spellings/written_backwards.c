// parts: vectors, vectors, vectors
// X float32 301 input
// Y float32 301 output
// Z int32 20 output
// W int32 7,61 output
void solution(float X[301], float Y[301], int32_t Z[20], int32_t W[7][61]) {
  for (int i = 0; i < 301; i++) Y[300 - i] = 2.0f * X[i];
  for (int i = 0; i < 20; i++) Z[i] = i * i;
  // Each needs what was there before.
  for (int i = 0; i < 20; i++) Z[19 - i] = Z[i] + 1;
  for (int r = 0; r < 7; r++) {
    int32_t *w = W[r] + 61;
    while (w > W[r]) *--w = 3 * r;
  }
}
