// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  for (int i = 23; i >= 0; i--)
    for (int j = 40; j-- > 0;) {
      float sum = 0.0f;
      for (int k = 19; k > -1; --k) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
