// The definition: sums in 32 bits, clamped to 8.
void solution(int8_t inp[2][{{ P }}][{{ P }}][{{ C }}], int8_t weights[{{ R }}][{{ R }}][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[2][{{ S }}][{{ S }}][{{ K }}]) {
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < {{ S }}; y++) {
      for (int x = 0; x < {{ S }}; x++) {
        for (int o = 0; o < {{ K }}; o++) {
          int32_t sum = bias[0][o];
          for (int ky = 0; ky < {{ R }}; ky++) {
            for (int kx = 0; kx < {{ R }}; kx++) {
              for (int c = 0; c < {{ C }}; c++) {
                sum += inp[b][y * {{ stride }} + ky][x * {{ stride }} + kx][c] * weights[ky][kx][c][o];
              }
            }
          }
          output[b][y][x][o] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
        }
      }
    }
  }
}
