// The definition: sums in 32 bits, clamped to 8.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}], int32_t bias[1][{{ C }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ C }}]) {
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y++) {
      for (int x = 0; x < {{ P }}; x++) {
        for (int c = 0; c < {{ C }}; c++) {
          int32_t sum = bias[0][c];
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              sum += inp[b][y + ky][x + kx][c] * weights[ky][kx][c];
            }
          }
          output[b][y][x][c] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
        }
      }
    }
  }
}
