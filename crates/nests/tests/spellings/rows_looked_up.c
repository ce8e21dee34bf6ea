// parts: product
// X float32 16,16 input
// I int32 8,4 input
// W float32 4,16,32 input
// bias float32 32 input
// C float32 8,32 output
void solution(float X[16][16], int32_t I[8][4], float W[4][16][32], float bias[32], float C[8][32]) {
  for (int m = 0; m < 8; m += 2) {
    int next = m + 1 < 8 ? m + 1 : 7;
    for (int n = 0; n < 32; n++) {
      float one = bias[n], other = bias[n];
      for (int p = 0; p < 4; p++) {
        const float *x = X[I[m][p] & 15], *y = X[I[next][p] & 15];
        for (int k = 0; k < 16; k++) {
          one += x[k] * W[p][k][n];
          other += y[k] * W[p][k][n];
        }
      }
      C[m][n] = one;
      C[next][n] = other;
    }
  }
}
