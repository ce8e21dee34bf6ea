// is: product 32x32x16, weights transposed, 4 times
void solution(int8_t Q[32][4][16], int8_t K[32][4][16], int8_t S[4][32][32]) {
  for (int h = 0; h < 4; h++)
    for (int i = 0; i < 32; i++)
      for (int j = 0; j < 32; j++) {
        int32_t sum = 0;
        for (int d = 0; d < 16; d++) sum += Q[i][h][d] * K[j][h][d];
        S[h][i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }
}
