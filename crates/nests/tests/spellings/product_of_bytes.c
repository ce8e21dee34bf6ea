// parts: product
// A int8 24,20 input
// B int8 20,40 input
// C int32 24,40 output
void solution(const int8_t A[24][20], const signed char B[20][40], int C[24][40]) {
  for (unsigned i = 0; i < 24; i++)
    for (unsigned j = 0; j < 40; j++) {
      int acc = 0;
      for (unsigned k = 0; k < 20; k++) acc += (int)A[i][k] * (int)B[k][j];
      C[i][j] = acc;
    }
}
