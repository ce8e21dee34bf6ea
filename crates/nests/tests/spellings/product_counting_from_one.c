// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  for (int i = 1; i <= 24; i++)
    for (int j = 1; j <= 40; j++) {
      float sum = 0.0f;
      for (int k = 1; k <= 20; k++) sum += A[i - 1][k - 1] * B[k - 1][j - 1];
      C[i - 1][j - 1] = sum;
    }
}
