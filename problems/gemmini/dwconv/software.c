{% set rows = library.rows %}
{% set plane = (rows + 2) * (P + 2) %}
// One channel and {{ rows }} output rows at a time, as the usual library does depthwise
// convolutions: three neighbouring pixels side by side in a row, so that one pass
// takes a row of taps. Move all of a block in, compute, move it out; nothing
// overlaps by design, and operands always take the same rows.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}], int32_t bias[1][{{ C }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ C }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ C }});
  gemmini_extended5_config_ld({{ C }}, 1.0f, false, 16, 3, 0);
  config_ld({{ C }}, 1.0f, 16, 1);
  config_ld(0, 1.0f, 16, 2);
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y += {{ rows }}) {
      for (int c = 0; c < {{ C }}; c++) {
        for (int yy = 0; yy < {{ rows }}; yy++) {
          for (int x = 0; x < {{ P }}; x += 16) {
            mvin3(&bias[0][c], 0x80000000 + yy * {{ P }} + x, 1, x + 16 <= {{ P }} ? 16 : {{ P }} - x);
          }
        }
        for (int yy = 0; yy < {{ rows + 2 }}; yy++) {
          for (int x = 0; x < {{ P + 2 }}; x += 16) {
            mvin(&inp[b][y + yy][x][c], yy * {{ P + 2 }} + x, 1, x + 16 <= {{ P + 2 }} ? 16 : {{ P + 2 }} - x);
          }
        }
        for (int ky = 0; ky < 3; ky++) {
          mvin2(&weights[ky][0][c], 8192 + ky * 3, 1, 3);
        }
        for (int ky = 0; ky < 3; ky++) {
          for (int yy = 0; yy < {{ rows }}; yy++) {
            for (int x = 0; x < {{ P }}; x += 16) {
              int pixels = x + 16 <= {{ P }} ? 16 : {{ P }} - x;
              if (yy == 0 && x == 0) {
                preload(8192 + ky * 3, 0xc0000000 + yy * {{ P }} + x, 1, 3, 1, pixels);
                compute_preloaded((yy + ky) * {{ P + 2 }} + x, GARBAGE_ADDR, 3, pixels, 16, 16);
              } else {
                preload(GARBAGE_ADDR, 0xc0000000 + yy * {{ P }} + x, 1, 3, 1, pixels);
                compute_accumulated((yy + ky) * {{ P + 2 }} + x, GARBAGE_ADDR, 3, pixels, 16, 16);
              }
            }
          }
        }
        for (int yy = 0; yy < {{ rows }}; yy++) {
          for (int x = 0; x < {{ P }}; x += 16) {
            mvout(&output[b][y + yy][x][c], 0x80000000 + yy * {{ P }} + x, 1, x + 16 <= {{ P }} ? 16 : {{ P }} - x);
          }
        }
      }
    }
  }
  fence();
}
