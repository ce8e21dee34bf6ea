// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  int i, j, k;
  float sum;
  for (i = 0; i < 24; i++) {
    for (j = 0; j < 40; j++) {
      sum = 0;
      for (k = 0; k < 20; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
  }
}
