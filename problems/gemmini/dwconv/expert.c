{% set rows = expert.rows %}
{% set area = rows * P %}
{% set chunks = (area + 15) // 16 %}
{% set plane = (rows + 2) * (P + 2) %}
{% set moves = (plane + 15) // 16 %}
{% set groups = C // 16 %}
{% set blocks = batch * P // rows %}
{# Pixels of the first tile of a row; the rest are full. #}
{% set short = P % 16 if P % 16 else 16 %}
{# Image moves to make beside each group of channels. #}
{% set share = (moves * (C // 64) + groups - 1) // groups %}
{# A tap over all pixels; what else is to be moved goes between the rows. #}
{% macro tap(number) %}
      {
        uint64_t pixel = image + {{ number // 3 * (P + 2) + number % 3 }};
        preload(filter + {{ number * C }}, 0xc0000000 + half, 16, 16, 16, {{ short }});
        compute_preloaded(pixel, GARBAGE_ADDR, 16, {{ short }}, 16, 16);
        rest_of_row(pixel, half);
        for (int y = 1; y < {{ rows }}; y++) {
          preload(GARBAGE_ADDR, 0xc0000000 + half + y * {{ P }}, 16, 16, 16, {{ short }});
          compute_accumulated(pixel + y * {{ P + 2 }}, GARBAGE_ADDR, 16, {{ short }}, 16, 16);
          rest_of_row(pixel + y * {{ P + 2 }}, half + y * {{ P }});
{{ caller() }}
        }
      }
{% endmacro %}
// Hand schedule. The core spreads the weights over the diagonals of tiles, one for
// each tap and 16 channels; these tiles stay in the scratchpad. Blocks of {{ rows }} output
// rows by 16 channels; each tile is put into the array once per block and used for all its
// pixels, the short tile of a row first. What the next block needs (image rows,
// bias) and what the last one left (results) moves between the computes. Image
// rows alternate between scratchpad banks 0 and 1, sums between the accumulator
// halves. The limit: a diagonal uses one in 16 of the array's multipliers, so
// {{ batch * P * P * 9 * groups }} cycles of the array are needed.
static inline void rest_of_row(uint64_t pixel, uint64_t sums) {
  for (int x = {{ short }}; x < {{ P }}; x += 16) {
    preload(GARBAGE_ADDR, 0xc0000000 + sums + x, 16, 16, 16, 16);
    compute_accumulated(pixel + x, GARBAGE_ADDR, 16, 16, 16, 16);
  }
}
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}], int32_t bias[1][{{ C }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ C }}]) {
  static int8_t diagonal[9][{{ C }}][16];
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ C }});
  config_ld({{ C }}, 1.0f, {{ plane }}, 0);
  config_ld(16, 1.0f, 16, 1);
  config_ld(0, 1.0f, 16, 2);
  for (int t = 0; t < {{ chunks }}; t++) {
    mvin3(&bias[0][0], 0x80000000 + t * 16, 16, t < {{ area // 16 }} ? 16 : {{ area % 16 }});
  }
  for (int c = 0; c < {{ C // 64 }}; c++) {
    for (int p = 0; p < {{ moves }}; p++) {
      mvin(&inp[0][0][0][0] + p * {{ 16 * C }} + c * 64, c * {{ 4 * plane }} + p * 16, 64, p < {{ plane // 16 }} ? 16 : {{ plane % 16 }});
    }
  }
  for (int t = 0; t < 9; t++) {
    for (int c = 0; c < {{ C }}; c++) {
      diagonal[t][c][c % 16] = weights[t / 3][t % 3][c];
    }
    for (int c = 0; c < {{ C }}; c += 16) {
      mvin2(&diagonal[t][c][0], 8192 + t * {{ C }} + c, 16, 16);
    }
  }
  uint64_t bank = 0;
  uint64_t half = 0;
  int8_t *last = 0;
  for (int block = 0; block < {{ blocks }}; block++) {
    int next = block + 1;
    const int8_t *next_image = &inp[next / {{ P // rows }}][next % {{ P // rows }} * {{ rows }}][0][0];
    for (int g = 0; g < {{ groups }}; g++) {
      uint64_t image = bank + g * {{ plane }};
      uint64_t filter = 8192 + g * 16;
      int next_channel = g < {{ groups - 1 }} ? g * 16 + 16 : 0;
      int more = g < {{ groups - 1 }} || block < {{ blocks - 1 }};
      int t = last ? 0 : {{ chunks }};
{% for number in [0, 1] %}
{% call tap(number) %}
          if (t < {{ chunks }}) {
            mvout(last + t * {{ 16 * C }}, 0x80000000 + (half ^ 512) + t * 16, 16, t < {{ area // 16 }} ? 16 : {{ area % 16 }});
            t++;
          }
{%- endcall %}
{% endfor %}
      t = more ? 0 : {{ chunks }};
{% for number in [2, 3, 4, 5] %}
{% call tap(number) %}
          if ((y & 1) && t < {{ chunks }}) {
            mvin3(&bias[0][next_channel], 0x80000000 + (half ^ 512) + t * 16, 16, t < {{ area // 16 }} ? 16 : {{ area % 16 }});
            t++;
          }
{%- endcall %}
{% endfor %}
      t = block < {{ blocks - 1 }} ? g * {{ share }} : {{ moves * (C // 64) }};
      int end = t + {{ share }} < {{ moves * (C // 64) }} ? t + {{ share }} : {{ moves * (C // 64) }};
{% for number in [6, 7, 8] %}
{% call tap(number) %}
          if ((y & 3) == 1 && t < end) {
            int p = t / {{ C // 64 }};
            int c = t % {{ C // 64 }};
            mvin(next_image + p * {{ 16 * C }} + c * 64, (bank ^ 4096) + c * {{ 4 * plane }} + p * 16, 64, p < {{ plane // 16 }} ? 16 : {{ plane % 16 }});
            t++;
          }
{%- endcall %}
{% endfor %}
      last = &output[block / {{ P // rows }}][block % {{ P // rows }} * {{ rows }}][0][g * 16];
      half ^= 512;
    }
    bank ^= 4096;
  }
  for (int t = 0; t < {{ chunks }}; t++) {
    mvout(last + t * {{ 16 * C }}, 0x80000000 + (half ^ 512) + t * 16, 16, t < {{ area // 16 }} ? 16 : {{ area % 16 }});
  }
  fence();
}
