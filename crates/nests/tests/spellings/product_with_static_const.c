// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
static const int M = 24, N = 40;
static const size_t K = 20;
void solution(float A[24][20], float B[20][40], float C[24][40]) {
  for (size_t i = 0; i < M; i += 1)
    for (size_t j = 0; j < N; j += 1) {
      float sum = 0.f;
      for (size_t k = 0; k < K; k += 1) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
