// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  const int m = 24;
  const int n = 40, depth = n / 2;
  long i, j, k;
  for (i = 0; i <= m - 1; i++)
    for (j = 0; j <= n - 1; j++) {
      float sum = 0.0f;
      for (k = 0; k <= depth - 1; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
