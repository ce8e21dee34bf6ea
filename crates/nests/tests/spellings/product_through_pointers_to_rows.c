// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(const float *A, const float *B, float *C) {
  const float (*a)[20] = (const float (*)[20])A;
  const float (*b)[40] = (const float (*)[40])B, (*upper)[40] = b + 10;
  float (*c)[40] = (float (*)[40])C;
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 40; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 20; k++) sum += a[i][k] * (*(upper + k - 10))[j];
      c[i][j] = sum;
    }
}
