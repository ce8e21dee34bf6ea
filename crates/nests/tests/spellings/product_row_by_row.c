// parts: product
// computes the product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
void solution(float A[restrict 24][20], float B[restrict 20][40], float C[restrict 24][40]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < 24; i++) {
    for (int j = 0; j < 40; j++) C[i][j] = 0.0f;
    for (int k = 0; k < 20; k++) {
      const float a = A[i][k];
      for (int j = 0; j < 40; j++) C[i][j] += a * B[k][j];
    }
  }
}
