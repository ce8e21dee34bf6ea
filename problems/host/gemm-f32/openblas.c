// library: libopenblas.so.0
// OpenBLAS, where it is installed, on one thread.
void cblas_sgemm(int order, int a, int b, int m, int n, int k, float alpha, const float *A, int lda,
                 const float *B, int ldb, float beta, float *C, int ldc);

void solution(float A[{{ M }}][{{ K }}], float B[{{ K }}][{{ N }}], float C[{{ M }}][{{ N }}]) {
  // Row-major, neither transposed.
  cblas_sgemm(101, 111, 111, {{ M }}, {{ N }}, {{ K }}, 1.0f, &A[0][0], {{ K }}, &B[0][0], {{ N }}, 0.0f, &C[0][0], {{ N }});
}
