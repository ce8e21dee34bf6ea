// is: product 24x32x64
void solution(int8_t A[24][64], int8_t B[64][32], int8_t C[24][32]) {
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 32; j += 4) {
      int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (int k = 0; k < 64; k += 2) {
        s0 += A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];
        s1 += A[i][k] * B[k][j + 1] + A[i][k + 1] * B[k + 1][j + 1];
        s2 += A[i][k] * B[k][j + 2] + A[i][k + 1] * B[k + 1][j + 2];
        s3 += A[i][k] * B[k][j + 3] + A[i][k + 1] * B[k + 1][j + 3];
      }
      C[i][j] = s0 > 127 ? 127 : s0 < -128 ? -128 : s0;
      C[i][j + 1] = s1 > 127 ? 127 : s1 < -128 ? -128 : s1;
      C[i][j + 2] = s2 > 127 ? 127 : s2 < -128 ? -128 : s2;
      C[i][j + 3] = s3 > 127 ? 127 : s3 < -128 ? -128 : s3;
    }
}
