// is: product 32x16x32, 4 times
void solution(int8_t P[4][32][32], int8_t V[32][64], int8_t O[32][64]) {
  for (int h = 0; h < 4; h++)
    for (int i = 0; i < 32; i++)
      for (int d = 0; d < 16; d++) {
        int32_t sum = 0;
        for (int j = 0; j < 32; j++) sum += P[h][i][j] * V[j][h * 16 + d];
        O[i][h * 16 + d] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
      }
}
