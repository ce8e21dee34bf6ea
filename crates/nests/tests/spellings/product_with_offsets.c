// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
typedef float real;
void solution(const real *__restrict__ A, const real *__restrict__ B, real *__restrict__ C) {
  for (int i = 0; i < 24; i++) {
    const int row = i * 40;
    const real *a = A + i * 20;
    for (int j = 0; j < 40; j++) {
      size_t at = row + j;
      real sum = 0;
      for (int k = 0; k < 20; k++) { sum += a[k] * B[k * 40 + j]; }
      C[at] = sum;
    }
  }
}
