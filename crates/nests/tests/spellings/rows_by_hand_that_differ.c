// parts: vectors
// A float32 64,32 input
// B float32 32,48 input
// C float32 64,48 output
void solution(float A[64][32], float B[32][48], float C[64][48]) {
  for (int i = 0; i < 64; i += 2) {
    for (int j = 0; j < 48; j++) {
      float c0 = 0.0f, c1 = 0.0f;
      for (int k = 0; k < 32; k++) {
        c0 += A[i][k] * B[k][j];
        c1 += A[i + 1][k] * B[k][j];
      }
      C[i][j] = c0;
      C[i + 1][j] = c1 + 1.0f;
    }
  }
}
