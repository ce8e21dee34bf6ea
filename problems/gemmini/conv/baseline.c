// Up to 16 pixels of one output row by 64 output channels at a time, every
// operand moved in when it is needed: tiled for the array, nothing scheduled.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  config_ld(0, 1.0f, 16, 0);
  config_ld({{ C }}, 1.0f, 16, 1);
  config_ld({{ K }}, 1.0f, 16, 2);
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y++) {
      for (int x = 0; x < {{ P }}; x += 16) {
        int pixels = {% if P % 16 %}x + 16 <= {{ P }} ? 16 : {{ P }} - x{% else %}16{% endif %};
        for (int o = 0; o < {{ K // 64 }}; o++) {
          for (int oo = 0; oo < 4; oo++) {
            mvin(&bias[0][o * 64 + oo * 16], 0x80000000 + oo * 16, 16, pixels);
          }
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              for (int c = 0; c < {{ C // 64 }}; c++) {
                mvin2(&inp[b][y + ky][x + kx][c * 64], 0, 64, pixels);
                for (int cc = 0; cc < 4; cc++) {
                  mvin3(&weights[ky][kx][c * 64 + cc * 16][o * 64], 1024 + cc * 64, 64, 16);
                }
                for (int cc = 0; cc < 4; cc++) {
                  for (int oo = 0; oo < 4; oo++) {
                    preload(1024 + cc * 64 + oo * 16, 0xc0000000 + oo * 16, 16, 16, 16, pixels);
                    compute_preloaded(cc * 16, 0xffffffff, 16, pixels, 16, 16);
                  }
                }
              }
            }
          }
          for (int oo = 0; oo < 4; oo++) {
            mvout(&output[b][y][x][o * 64 + oo * 16], 0x80000000 + oo * 16, 16, pixels);
          }
        }
      }
    }
  }
  fence();
}
