{% set rows = expert.rows %}
{% set area = rows * P %}
{% set chunks = (area + 15) // 16 %}
{% set plane = (rows + 2) * (P + 2) %}
{% set moves = (plane + 15) // 16 %}
{% set wide = C // 64 %}
{% set Ct = C // 16 %}
{% set Ot = K // 16 %}
{% set blocks = P // rows %}
{# Pixels of the first tile of a row; the rest are full. #}
{% set short = P % 16 if P % 16 else 16 %}
// Hand schedule. Blocks of {{ rows }} output rows by 16 output channels; each tile of weights
// is put into the array once and used for all pixels of the block, the short
// tile of a row first, so that taking over new weights costs nothing. What the
// next block needs (weights, image rows, bias) and what the last one left
// (results) moves in small pieces between the computes. Image rows alternate
// between scratchpad banks 0 and 1, weights between 2 and 3, sums between the
// accumulator halves. Addresses are 64-bit, so that the core need not extend them.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  config_ld({{ C }}, 1.0f, {{ plane }}, 0);
  config_ld({{ K }}, 1.0f, 16, 1);
  config_ld(0, 1.0f, 16, 2);
  uint64_t image = 0;
  uint64_t filter = 8192;
  uint64_t half = 0;
  for (int t = 0; t < {{ chunks }}; t++) {
    mvin3(&bias[0][0], 0x80000000 + t * 16, 16, t < {{ area // 16 }} ? 16 : {{ area % 16 }});
  }
  for (int c = 0; c < {{ wide }}; c++) {
    for (int p = 0; p < {{ moves }}; p++) {
      mvin(&inp[0][0][0][0] + p * {{ 16 * C }} + c * 64, c * {{ 4 * plane }} + p * 16, 64, p < {{ plane // 16 }} ? 16 : {{ plane % 16 }});
    }
  }
  for (int tap = 0; tap < 9; tap++) {
    for (int c = 0; c < {{ Ct }}; c++) {
      mvin2(&weights[tap / 3][tap % 3][c * 16][0], filter + (tap * {{ Ct }} + c) * 16, 16, 16);
    }
  }
  int8_t *last = 0;
  for (int block = 0; block < {{ batch * blocks }}; block++) {
    int next = block + 1;
    const int8_t *next_image = &inp[next / {{ blocks }}][next % {{ blocks }} * {{ rows }}][0][0];
    int piece = 0;
    for (int o = 0; o < {{ Ot }}; o++) {
      int next_o = o < {{ Ot - 1 }} ? o + 1 : 0;
      int more = o < {{ Ot - 1 }} || block < {{ batch * blocks - 1 }};
      int step = 0;
      for (int ky = 0; ky < 3; ky++) {
        for (int kx = 0; kx < 3; kx++) {
          for (int c = 0; c < {{ Ct }}; c++) {
            uint64_t pixel = image + c * {{ plane }} + ky * {{ P + 2 }} + kx;
            preload(filter + step * 16, 0xc0000000 + half, 16, 16, 16, {{ short }});
            compute_preloaded(pixel, GARBAGE_ADDR, 16, {{ short }}, 16, 16);
{% if short < P %}
            for (int x = {{ short }}; x < {{ P }}; x += 16) {
              preload(GARBAGE_ADDR, 0xc0000000 + half + x, 16, 16, 16, 16);
              compute_accumulated(pixel + x, GARBAGE_ADDR, 16, 16, 16, 16);
            }
{% endif %}
            if (more) {
              mvin2(&weights[ky][kx][c * 16][next_o * 16], (filter ^ 4096) + step * 16, 16, 16);
            }
            if (last && step < {{ chunks }}) {
              mvout(last + step * {{ 16 * K }}, 0x80000000 + (half ^ 512) + step * 16, 16, step < {{ area // 16 }} ? 16 : {{ area % 16 }});
            }
            for (int y = 1; y < {{ rows }}; y++) {
              preload(GARBAGE_ADDR, 0xc0000000 + half + y * {{ P }}, 16, 16, 16, {{ short }});
              compute_accumulated(pixel + y * {{ P + 2 }}, GARBAGE_ADDR, 16, {{ short }}, 16, 16);
{% if short < P %}
              for (int x = {{ short }}; x < {{ P }}; x += 16) {
                preload(GARBAGE_ADDR, 0xc0000000 + half + y * {{ P }} + x, 16, 16, 16, 16);
                compute_accumulated(pixel + y * {{ P + 2 }} + x, GARBAGE_ADDR, 16, 16, 16, 16);
              }
{% endif %}
            }
            if (more && step < {{ chunks }}) {
              mvin3(&bias[0][next_o * 16], 0x80000000 + (half ^ 512) + step * 16, 16, step < {{ area // 16 }} ? 16 : {{ area % 16 }});
            }
            if (block < {{ batch * blocks - 1 }} && piece < {{ moves * wide }}) {
              int p = piece / {{ wide }};
              int cc = piece % {{ wide }};
              mvin(next_image + p * {{ 16 * C }} + cc * 64, (image ^ 4096) + cc * {{ 4 * plane }} + p * 16, 64, p < {{ plane // 16 }} ? 16 : {{ plane % 16 }});
              piece++;
            }
            step++;
          }
        }
      }
      last = &output[block / {{ blocks }}][block % {{ blocks }} * {{ rows }}][0][o * 16];
      filter ^= 4096;
      half ^= 512;
    }
    image ^= 4096;
  }
  for (int t = 0; t < {{ chunks }}; t++) {
    mvout(last + t * {{ 16 * K }}, 0x80000000 + (half ^ 512) + t * 16, 16, t < {{ area // 16 }} ? 16 : {{ area % 16 }});
  }
  fence();
}
