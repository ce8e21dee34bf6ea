// parts: product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
#define K 20
#define IDX(r, c, rows) ((r) + (c) * (rows))
void solution(const float *A, const float *B, float *C) {
  for (int r = 0; r < 24; r++) {
    for (int c = 0; c < 40; c++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += A[IDX(k, r, K)] * B[IDX(c, k, 40)];
      C[IDX(c, r, 40)] = sum;
    }
  }
}
