// Up to 16 pixels of one output row by 16 output channels at a time, every operand moved
// in when it is needed: nothing scheduled.
void solution(int8_t inp[2][{{ P }}][{{ P }}][{{ C }}], int8_t weights[{{ R }}][{{ R }}][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[2][{{ S }}][{{ S }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  config_ld(0, 1.0f, 16, 0);
  config_ld({{ C * stride }}, 1.0f, 16, 1);
  config_ld({{ K }}, 1.0f, 16, 2);
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < {{ S }}; y++) {
      for (int x = 0; x < {{ S }}; x += 16) {
        int pixels = x + 16 <= {{ S }} ? 16 : {{ S }} - x;
        for (int o = 0; o < {{ K }}; o += 16) {
          mvin(&bias[0][o], 0x80000000, 16, pixels);
          for (int ky = 0; ky < {{ R }}; ky++) {
            for (int kx = 0; kx < {{ R }}; kx++) {
              for (int c = 0; c < {{ C }}; c += 16) {
                mvin2(&inp[b][y * {{ stride }} + ky][x * {{ stride }} + kx][c], 0, 16, pixels);
                mvin3(&weights[ky][kx][c][o], 1024, 16, 16);
                preload(1024, 0xc0000000, 16, 16, 16, pixels);
                compute_preloaded(0, GARBAGE_ADDR, 16, pixels, 16, pixels);
              }
            }
          }
          mvout(&output[b][y][x][o], 0x80000000, 16, pixels);
        }
      }
    }
  }
  fence();
}
