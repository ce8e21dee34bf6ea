// is: product 20x36x28, at full width
void solution(int8_t A[20][28], int8_t B[28][36], int32_t C[20][36]) {
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 36; j++) C[i][j] = 0;
  for (int k = 0; k < 28; k++)
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 36; j++) C[i][j] += A[i][k] * B[k][j];
}
