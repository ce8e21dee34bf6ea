// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
static void add_row(float *restrict c, const float *restrict b, float a, int n) {
  for (int j = 0; j < n; j++) c[j] += a * b[j];
}
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  for (int i = 0; i < 24; i++) {
    for (int j = 0; j < 40; j++) C[i][j] = 0;
    for (int k = 0; k < 20; k++) add_row(C[i], B[k], A[i][k], 40);
  }
}
