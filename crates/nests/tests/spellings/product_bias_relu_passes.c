// parts: product
// A float32 24,20 input
// B float32 20,40 input
// C float32 24,40 output
// D float32 40 input
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void solution(float A[24][20], float B[20][40], float C[24][40], float D[40]) {
  for (int i = 0; i < 24; i++) {
    for (int j = 0; j < 40; j++) C[i][j] = D[j];
    for (int k = 0; k < 20; k++)
      for (int j = 0; j < 40; j++) C[i][j] += A[i][k] * B[k][j];
    for (int j = 0; j < 40; j++) C[i][j] = MAX(C[i][j], 0);
  }
}
