// is: convolution 3x3, stride 1, of 16 channels, 72x32
void solution(int8_t inp[2][8][8][32], int8_t weights[3][3][32], int32_t bias[32], int8_t output[2][6][6][32]) {
  for (int b = 0; b < 2; b++)
    for (int y = 0; y < 6; y++)
      for (int x = 0; x < 6; x++)
        for (int c = 0; c < 32; c++) {
          int32_t sum = bias[c];
          for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++) sum += inp[b][y + ky][x + kx][c] * weights[ky][kx][c];
          output[b][y][x][c] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
        }
}
