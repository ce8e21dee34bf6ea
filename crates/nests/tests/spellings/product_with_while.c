// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  int i = 0;
  while (i < 24) {
    int j = 0;
    while (j != 40) {
      float sum = 0.0f;
      int k = 0;
      while (20 > k) {
        sum += A[i][k] * B[k][j];
        k++;
      }
      C[i][j] = sum;
      j += 1;
    }
    i = i + 1;
  }
}
