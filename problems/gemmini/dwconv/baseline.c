// The core spreads the weights of 16 channels over the diagonal of a tile, one
// for each tap; the array then works as for a full convolution.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}], int32_t bias[1][{{ C }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ C }}]) {
  static int8_t diagonal[9][{{ C }}][16];
  for (int tap = 0; tap < 9; tap++) {
    for (int c = 0; c < {{ C }}; c++) {
      diagonal[tap][c][c % 16] = weights[tap / 3][tap % 3][c];
    }
  }
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ C }});
  config_ld(0, 1.0f, 16, 0);
  config_ld({{ C }}, 1.0f, 16, 1);
  config_ld(16, 1.0f, 16, 2);
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y++) {
      for (int x = 0; x < {{ P }}; x += 16) {
        int pixels = {% if P % 16 %}x + 16 <= {{ P }} ? 16 : {{ P }} - x{% else %}16{% endif %};
        for (int c = 0; c < {{ C // 16 }}; c++) {
          mvin(&bias[0][c * 16], 0x80000000, 16, pixels);
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              mvin2(&inp[b][y + ky][x + kx][c * 16], 0, 16, pixels);
              mvin3(&diagonal[ky * 3 + kx][c * 16][0], 1024, 16, 16);
              preload(1024, 0xc0000000, 16, 16, 16, pixels);
              compute_preloaded(0, 0xffffffff, 16, pixels, 16, 16);
            }
          }
          mvout(&output[b][y][x][c * 16], 0x80000000, 16, pixels);
        }
      }
    }
  }
  fence();
}
