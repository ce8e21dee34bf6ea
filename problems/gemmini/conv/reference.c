// The definition: sums in 32 bits, clamped to 8.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y++) {
      for (int x = 0; x < {{ P }}; x++) {
        int32_t sums[{{ K }}];
        for (int o = 0; o < {{ K }}; o++) {
          sums[o] = bias[0][o];
        }
        for (int ky = 0; ky < 3; ky++) {
          for (int kx = 0; kx < 3; kx++) {
            for (int c = 0; c < {{ C }}; c++) {
              for (int o = 0; o < {{ K }}; o++) {
                sums[o] += inp[b][y + ky][x + kx][c] * weights[ky][kx][c][o];
              }
            }
          }
        }
        for (int o = 0; o < {{ K }}; o++) {
          output[b][y][x][o] = sums[o] > 127 ? 127 : sums[o] < -128 ? -128 : sums[o];
        }
      }
    }
  }
}
