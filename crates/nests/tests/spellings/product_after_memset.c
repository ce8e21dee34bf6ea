// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float *restrict A, float *restrict B, float *restrict C) {
  memset(C, 0, 24 * 40 * sizeof(float));
  for (int k = 0; k < 20; k++)
    for (int i = 0; i < 24; i++)
      for (int j = 0; j < 40; j++)
        C[i * 40 + j] += A[i * 20 + k] * B[k * 40 + j];
}
