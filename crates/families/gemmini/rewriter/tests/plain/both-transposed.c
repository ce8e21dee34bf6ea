// is: product 48x56x64, input transposed
// The core turns the weights.
void solution(int8_t A[64][48], int8_t B[56][64], int8_t C[48][56]) {
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 56; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 64; k++) sum += A[k][i] * B[j][k];
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
}
