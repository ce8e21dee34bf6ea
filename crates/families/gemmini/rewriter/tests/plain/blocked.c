// is: product 50x70x90
// Blocked, with ragged blocks.
#define T 32
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void solution(int8_t A[50][90], int8_t B[90][70], int8_t C[50][70]) {
  static int32_t acc[50][70];
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 70; j++) acc[i][j] = 0;
  for (int ii = 0; ii < 50; ii += T)
    for (int jj = 0; jj < 70; jj += T)
      for (int kk = 0; kk < 90; kk += T)
        for (int i = ii; i < MIN(ii + T, 50); i++)
          for (int k = kk; k < MIN(kk + T, 90); k++)
            for (int j = jj; j < MIN(jj + T, 70); j++) acc[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 70; j++) {
      int32_t v = acc[i][j];
      v = v > 127 ? 127 : v;
      v = v < -128 ? -128 : v;
      C[i][j] = (int8_t)v;
    }
}
