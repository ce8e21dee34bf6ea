// parts: product
// A float32 64,32 input
// B float32 32,48 input
// C float32 64,48 output
void solution(float A[64][32], float B[32][48], float C[64][48]) {
  int i = 0;
  for (; i + 4 <= 64; i += 4) {
    for (int j = 0; j < 48; j++) {
      float c0 = 0.0f;
      float c1 = c0, c2 = c0, c3 = c0;
      for (int k = 0; k < 32; k++) {
        float b = B[k][j];
        c0 += A[i][k] * b;
        c1 += A[i + 1][k] * b;
        c2 += A[i + 2][k] * b;
        c3 += A[i + 3][k] * b;
      }
      C[i][j] = c0;
      C[i + 1][j] = c1;
      C[i + 2][j] = c2;
      C[i + 3][j] = c3;
    }
  }
  for (; i < 64; i++) {
    for (int j = 0; j < 48; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 32; k++) {
        sum += A[i][k] * B[k][j];
      }
      C[i][j] = sum;
    }
  }
}
