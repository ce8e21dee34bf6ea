// parts: vectors, vectors, vectors
// A float32 64 input
// W float32 128 input
// Y float32 64 output
// Z float32 128 output
void solution(float A[64], float W[128], float Y[64], float Z[128]) {
  int i, j;
  const float *win = W + 64;
  for (i = -64, j = 63; i < 0; i++, j--) {
    Y[i + 64] = A[j] * win[i] - win[j];
  }
  for (int k = 0; k < i + 64; k++) Z[k] = 0;
  for (size_t n = 64, k = 64; n > 0; n -= 1, k += 1) Z[k] = A[n - 1];
}
