// like: product-scaled
#define M 128
#define N 96
#define K 64
void solution(int8_t A[M][K], int8_t B[K][N], int8_t C[M][N]) {
  tiled_matmul_auto(M, N, K, (elem_t *)A, (elem_t *)B, NULL, C, K, N, 0, N, 1.0f, 1.0f, 1, RELU, 0.5f, 0, false,
                    false, false, false, false, 0, OS);
}
