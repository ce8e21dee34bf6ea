// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  const float *a = &A[0][0], *b = (const float *)B;
  float *c = (float *)C;
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 40; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 20; k++) sum += a[i * 20 + k] * *(b + k * 40 + j);
      *(c + i * 40 + j) = sum;
    }
}
