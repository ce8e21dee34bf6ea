// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
#define M 24
#define N 40
#define K (M - 4)
void solution(float A[M][K], float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0.0f;
      for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
