{% set rows = library.rows %}
{% set channels = library.channels %}
{% set Ot = channels // 16 %}
{% set Ct = C // 16 %}
{# Local rows of one tile of input channels of a block. #}
{% set plane = (rows + 2) * (P + 2) %}
{% set weight_rows = 9 * C * Ot %}
// Blocks of {{ rows }} output rows and {{ channels }} output channels, sized by rule as the usual
// library does: move all of a block in, compute, move it out; nothing overlaps
// by design, and operands always take the same rows.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  config_ld({{ C }}, 1.0f, {{ plane }}, 0);
  config_ld({{ K }}, 1.0f, {{ 9 * C }}, 1);
  config_ld(0, 1.0f, 16, 2);
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y += {{ rows }}) {
      for (int o = 0; o < {{ K }}; o += {{ channels }}) {
        for (int oo = 0; oo < {{ Ot }}; oo++) {
          for (int yy = 0; yy < {{ rows }}; yy++) {
            for (int x = 0; x < {{ P }}; x += 16) {
              mvin3(&bias[0][o + oo * 16], 0x80000000 + oo * {{ rows * P }} + yy * {{ P }} + x, 16, x + 16 <= {{ P }} ? 16 : {{ P }} - x);
            }
          }
        }
        for (int yy = 0; yy < {{ rows + 2 }}; yy++) {
          for (int x = 0; x < {{ P + 2 }}; x += 16) {
            for (int c = 0; c < {{ C }}; c += 64) {
              mvin(&inp[b][y + yy][x][c], c / 16 * {{ plane }} + yy * {{ P + 2 }} + x, 64, x + 16 <= {{ P + 2 }} ? 16 : {{ P + 2 }} - x);
            }
          }
        }
        for (int ky = 0; ky < 3; ky++) {
          for (int kx = 0; kx < 3; kx++) {
            for (int c = 0; c < {{ C }}; c += 16) {
              mvin2(&weights[ky][kx][c][o], {{ 16384 - weight_rows }} + (ky * 3 + kx) * {{ C }} + c, {{ channels }}, 16);
            }
          }
        }
        for (int oo = 0; oo < {{ Ot }}; oo++) {
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              for (int c = 0; c < {{ Ct }}; c++) {
                for (int yy = 0; yy < {{ rows }}; yy++) {
                  for (int x = 0; x < {{ P }}; x += 16) {
                    int pixels = x + 16 <= {{ P }} ? 16 : {{ P }} - x;
                    uint32_t sums = 0xc0000000 + oo * {{ rows * P }} + yy * {{ P }} + x;
                    uint32_t image = c * {{ plane }} + (yy + ky) * {{ P + 2 }} + x + kx;
                    if (yy == 0 && x == 0) {
                      preload({{ 16384 - weight_rows }} + oo * {{ 9 * C }} + (ky * 3 + kx) * {{ C }} + c * 16, sums, 16, 16, 16, pixels);
                      compute_preloaded(image, GARBAGE_ADDR, 16, pixels, 16, 16);
                    } else {
                      preload(GARBAGE_ADDR, sums, 16, 16, 16, pixels);
                      compute_accumulated(image, GARBAGE_ADDR, 16, pixels, 16, 16);
                    }
                  }
                }
              }
            }
          }
        }
        for (int yy = 0; yy < {{ rows }}; yy++) {
          for (int x = 0; x < {{ P }}; x += 16) {
            for (int oo = 0; oo < {{ Ot }}; oo++) {
              mvout(&output[b][y + yy][x][o + oo * 16], 0x80000000 + oo * {{ rows * P }} + yy * {{ P }} + x, 16, x + 16 <= {{ P }} ? 16 : {{ P }} - x);
            }
          }
        }
      }
    }
  }
  fence();
}
