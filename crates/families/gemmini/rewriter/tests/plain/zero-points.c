// is: product 40x64x48, at full width, then the core
void solution(uint8_t A[40][48], uint8_t B[48][64], int32_t bias[64], uint8_t C[40][64]) {
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 64; j++) {
      int32_t sum = bias[j];
      for (int k = 0; k < 48; k++) sum += ((int32_t)A[i][k] - 131) * ((int32_t)B[k][j] - 120);
      int32_t value = ((sum + 256) >> 9) + 128;
      C[i][j] = value < 0 ? 0 : value > 255 ? 255 : value;
    }
}
