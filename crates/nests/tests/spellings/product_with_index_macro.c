// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
#define N 40
#define K 20
#define A_(i, k) A[(i) * K + (k)]
#define B_(k, j) B[(k) * N + (j)]
#define C_(i, j) \
  C[(i) * N + (j)]
void solution(const float *A, const float *B, float *C) {
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < N; j++) {
      C_(i, j) = 0;
      for (int k = 0; k < K; k++) C_(i, j) += A_(i, k) * B_(k, j);
    }
}
