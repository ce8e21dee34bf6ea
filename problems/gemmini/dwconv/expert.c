{# For 64 channels: one move takes all channels of 16 pixels. #}
{% set rows = expert.rows %}
{% set area = rows * P %}
{% set tiles = (area + 15) // 16 %}
{% set side = P + 2 %}
{% set plane = (rows + 2) * side %}
{% set moves = (plane + 15) // 16 %}
{% set groups = C // 16 %}
{# Pixels of the first tile of a row; the rest are full. #}
{% set short = P % 16 if P % 16 else 16 %}
{# Rows of the four parts of a step: `part`, but for the first. #}
{% set part = rows // 4 %}
{% set first = rows - 3 * part %}
{# Size of the last move: the rows that are left. #}
{% macro height(left, total) -%}
{% if total % 16 %}{{ left }} > 1 ? 16 : {{ total % 16 }}{% else %}16{% endif %}
{%- endmacro %}
{# The products of a row of pixels, with new weights or the ones in the array. #}
{% macro row(weights) %}
{% if weights %}
    preload(weights, sums, 16, 16, 16, {{ short }});
    compute_preloaded(pixel, GARBAGE_ADDR, 16, {{ short }}, 16, 16);
{% else %}
    preload(GARBAGE_ADDR, sums, 16, 16, 16, {{ short }});
    compute_accumulated(pixel, GARBAGE_ADDR, 16, {{ short }}, 16, 16);
{% endif %}
{% if short < P %}
    for (int x = {{ short }}; x < {{ P }}; x += 16) {
      preload(GARBAGE_ADDR, sums + x, 16, 16, 16, 16);
      compute_accumulated(pixel + x, GARBAGE_ADDR, 16, 16, 16, 16);
    }
{% endif %}
{% endmacro %}
{# What goes behind a part of a step. #}
{% macro beside(number) %}
            if (store_left) {
              if (store_to) {
                mvout(store_to, other, 16, {{ height("store_left", area) }});
                store_to += {{ 16 * C }};
              }
              if (next_bias) {
                mvin3(next_bias, other, 16, {{ height("store_left", area) }});
              }
              other += 16;
              store_left--;
            }
            if (next_weights) {
              spread(next_weights + {{ number * 4 }}, next_tile + {{ number * 4 * 17 }});
{% if number == 3 %}
              mvin2(next_tile, next_filter, 16, 16);
{% endif %}
            }
{% endmacro %}
// Hand schedule. The core spreads the weights over the diagonals of tiles, one for
// each tap and 16 channels; these tiles stay in the scratchpad. Blocks of {{ rows }} output
// rows by 16 channels. A step puts a tile into the array once and uses it for all
// pixels of the block, row by row, the short tile of a row first.
// Between the parts of a step go results of the last 16 channels, bias of the next,
// image rows of the next block; and during the first block the core makes the next
// tile, a quarter, one line of its cache, at a time.
// Blocks of the image alternate between scratchpad banks 0 and 1, sums between the
// accumulator halves.
// The limit: a diagonal uses one in 16 of the array's multipliers, so {{ batch * P * P * 9 * groups }} cycles
// of the array are needed. This takes {{ expert.over }} % more: for the first image rows' way in, the
// last results' way out, and the core while it makes tiles.
static inline void spread(const int8_t *weights, int8_t *tile) {
  for (int c = 0; c < 4; c++) {
    tile[c * 17] = weights[c];
  }
}

static __attribute__((noinline)) void multiply_first(uint64_t weights, uint64_t pixel, uint64_t sums) {
  {{ row(true)|trim|replace("\n  ", "\n") }}
  for (int y = 1; y < {{ first }}; y++) {
    sums += {{ P }};
    pixel += {{ side }};
    {{ row(false)|trim }}
  }
}

static __attribute__((noinline)) void multiply_rest(uint64_t pixel, uint64_t sums) {
  for (int y = 0; y < {{ part }}; y++) {
    {{ row(false)|trim }}
    sums += {{ P }};
    pixel += {{ side }};
  }
}

void solution(int8_t inp[{{ batch }}][{{ side }}][{{ side }}][{{ C }}], int8_t weights[3][3][{{ C }}], int32_t bias[1][{{ C }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ C }}]) {
  static int8_t diagonal[9][{{ C }}][16];
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ C }});
  config_ld({{ C }}, 1.0f, {{ plane }}, 0);
  config_ld(16, 1.0f, 16, 1);
  config_ld(0, 1.0f, 16, 2);
  for (int p = 0; p < {{ moves }}; p++) {
    mvin(&inp[0][0][0][0] + p * {{ 16 * C }}, p * 16, 64, {{ height(moves ~ " - p", plane) }});
  }
  for (int c = 0; c < 16; c += 4) {
    spread(&weights[0][0][c], &diagonal[0][c][c]);
  }
  mvin2(&diagonal[0][0][0], 8192, 16, 16);
  for (int t = 0; t < {{ tiles }}; t++) {
    mvin3(&bias[0][0], 0x80000000 + t * 16, 16, {{ height(tiles ~ " - t", area) }});
  }
  uint64_t bank = 0;
  uint64_t half = 0;
  int8_t *store_to = 0;
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y += {{ rows }}) {
      int more = b < {{ batch - 1 }} || y < {{ P - rows }};
      const int8_t *from = y < {{ P - rows }} ? &inp[b][y + {{ rows }}][0][0] : &inp[b + 1][0][0][0];
      uint64_t to = bank ^ 4096;
      int left = more ? {{ moves }} : 0;
      for (int g = 0; g < {{ groups }}; g++) {
        const int32_t *next_bias = g < {{ groups - 1 }} ? &bias[0][g * 16 + 16] : more ? &bias[0][0] : 0;
        uint64_t other = 0x80000000 + (half ^ 512);
        int store_left = {{ tiles }};
        for (int ky = 0; ky < 3; ky++) {
          for (int kx = 0; kx < 3; kx++) {
            int tap = ky * 3 + kx;
            uint64_t pixel = bank + g * {{ plane }} + ky * {{ side }} + kx;
            uint64_t sums = 0xc0000000 + half;
            const int8_t *next_weights = 0;
            int8_t *next_tile = 0;
            uint64_t next_filter = 0;
            if (b == 0 && y == 0 && (tap < 8 || g < {{ groups - 1 }})) {
              int next_tap = tap < 8 ? tap + 1 : 0;
              int channel = tap < 8 ? g * 16 : g * 16 + 16;
              next_weights = &weights[0][0][0] + next_tap * {{ C }} + channel;
              next_tile = &diagonal[next_tap][channel][0];
              next_filter = 8192 + next_tap * {{ C }} + channel;
            }
            multiply_first(8192 + tap * {{ C }} + g * 16, pixel, sums);
            {{ beside(0)|trim }}
{% for number in [1, 2, 3] %}
            multiply_rest(pixel + {{ (first + (number - 1) * part) * side }}, sums + {{ (first + (number - 1) * part) * P }});
            {{ beside(number)|trim }}
{% endfor %}
            if (left) {
              mvin(from, to, 64, {{ height("left", plane) }});
              from += {{ 16 * C }};
              to += 16;
              left--;
            }
          }
        }
        store_to = &output[b][y][0][g * 16];
        half ^= 512;
      }
      bank ^= 4096;
    }
  }
  for (int t = 0; t < {{ tiles }}; t++) {
    mvout(store_to + t * {{ 16 * C }}, 0x80000000 + (half ^ 512) + t * 16, 16, {{ height(tiles ~ " - t", area) }});
  }
  fence();
}
