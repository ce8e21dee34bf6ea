// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  const float (*b)[40] = (const float (*)[40])B;
  const float (*a)[4][5] = (const float (*)[4][5])A;
  for (float (*c)[40] = (float (*)[40])C; c != (float (*)[40])C + 24; c++, a += 1)
    for (int j = 0; j < 40; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 20; k++) sum += (*a)[0][k] * b[k][j];
      (*c)[j] = sum;
    }
}
