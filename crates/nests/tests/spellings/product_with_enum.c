// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
enum { M = 24, N = 40, K = 20 };
void solution(float A[M][K], float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) { sum = sum + A[i][k] * B[k][j]; }
      C[i][j] = sum;
    }
  }
}
