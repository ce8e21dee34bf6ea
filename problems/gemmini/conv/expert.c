{# Whole images in blocks of `images`, or parts of one image. #}
{% set rows = expert.rows %}
{% set images = expert.images %}
{% set side = P + 2 %}
{% set area = images * rows * P %}
{% set tiles = (area + 15) // 16 %}
{# Local rows of 16 input channels of a block's pixels, and moves that take them. #}
{% set plane = images * (rows + 2) * side %}
{% set moves = (plane + 15) // 16 %}
{% set chunks = C // 64 %}
{% set Ot = K // 16 %}
{# Pixels of the first tile of a row; the rest are full. #}
{% set short = P % 16 if P % 16 else 16 %}
{# Rows of the first part of a step. #}
{% set part = rows if images == 2 else rows // 2 %}
{% set part_pixels = images * (rows + 2) // 2 * side if images == 2 else part * side %}
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
{# All taps of a chunk of 64 input channels. #}
{% set taps %}
      for (int ky = 0; ky < 3; ky++) {
        for (int kx = 0; kx < 3; kx++) {
          uint64_t pixel = image + ky * {{ side }} + kx;
          if (ky < 2 || kx < 2) {
            tap += {{ C * K }};
{% if 1 < chunks %}
          } else if (chunk < {{ chunks - 1 }}) {
            tap -= {{ 8 * C * K - 64 * K }};
{% endif %}
          } else {
            tap = !last || more ? next_weights : 0;
          }
          for (int c = 0; c < 4; c++) {
            multiply_first(filter + c * 16, pixel + c * {{ plane }}, 0xc0000000 + half);
            if (tap) {
              mvin2(tap + c * {{ 16 * K }}, (filter ^ 4096) + c * 16, 16, 16);
            }
            if (store_left && store_to) {
              mvout(store_to, other, 16, {{ height("store_left", area) }});
              store_to += {{ 16 * K }};
            }
            multiply_rest(pixel + c * {{ plane }} + {{ part_pixels }}, 0xc0000000 + half + {{ part * P }});
            if (store_left) {
              if (!last || more) {
                mvin3(next_bias, other, 16, {{ height("store_left", area) }});
              }
              other += 16;
              store_left--;
            }
            if (left) {
              mvin(from, to, 64, {{ height("left", plane) }});
              from += {{ 16 * C }};
              to += 16;
              left--;
            }
          }
          filter ^= 4096;
        }
      }
{% endset %}
{# All output channels of a block. #}
{% set block %}
    for (int o = 0; o < {{ Ot }}; o++) {
      int last = o == {{ Ot - 1 }};
      const int8_t *next_weights = last ? &weights[0][0][0][0] : &weights[0][0][0][o * 16 + 16];
      const int32_t *next_bias = last ? &bias[0][0] : &bias[0][o * 16 + 16];
      uint64_t other = 0x80000000 + (half ^ 512);
      int store_left = {{ tiles }};
{% if chunks == 1 %}
      const int8_t *from = {{ "next_block" if rows < P else "&inp[b + " ~ images ~ "][0][0][0]" }};
      uint64_t to = bank ^ 4096;
      uint64_t image = bank;
      int left = last && more ? {{ moves }} : 0;
      {{ taps|trim }}
{% else %}
      for (int chunk = 0; chunk < {{ chunks }}; chunk++) {
        uint64_t image = (chunk & 1) * 4096 + (chunk >> 1) * {{ 4 * plane }};
        const int8_t *from = &inp[b][{{ "y" if rows < P else "0" }}][0][chunk * 64 + 64];
        uint64_t to = (~chunk & 1) * 4096 + ((chunk + 1) >> 1) * {{ 4 * plane }};
        int left = o == 0 ? {{ moves }} : 0;
        if (chunk == {{ chunks - 1 }}) {
          from = {{ "next_block" if rows < P else "&inp[b + " ~ images ~ "][0][0][0]" }};
          to = 0;
          left = last && more ? {{ moves }} : 0;
        }
        {{ taps|trim|indent(2) }}
      }
{% endif %}
      store_to = &output[b][{{ "y" if rows < P else "0" }}][0][o * 16];
      half ^= 512;
    }
{% if chunks == 1 %}
    bank ^= 4096;
{% endif %}
{% endset %}
// Hand schedule. Blocks of {{ images ~ " images" if images > 1 else rows ~ " output rows" }} by 16 output channels. A step puts a tile of
// weights into the array once and uses it for all pixels of the block, row by row.
{% if short < P %}
// The short tile of a row goes first, so that taking over weights costs nothing.
{% endif %}
{% if 1 < chunks %}
// Steps go through input channels in chunks of 64: only the first is waited for.
{% endif %}
// Between the parts of a step goes one move of each kind: weights of the next tap,
// image rows of the next {{ "chunk" if 1 < chunks else "block" }}, results of the last block, bias of the next.
// {{ "Chunks" if 1 < chunks else "Blocks" }} of the image alternate between scratchpad banks 0 and 1, taps of weights
// between 2 and 3, sums between the accumulator halves.
// {{ expert.peak }} % of peak. What is missing is the way in of the first image rows, the core at
{% if short < P %}
// turns of its loops, and the last results' way out.
{% else %}
// turns of its loops, and weights: taking them over costs 16 cycles, beside {{ P }} pixels.
{% endif %}
static __attribute__((noinline)) void multiply_first(uint64_t weights, uint64_t pixel, uint64_t sums) {
  {{ row(true)|trim|replace("\n  ", "\n") }}
  for (int y = 1; y < {{ part }}; y++) {
    sums += {{ P }};
    pixel += {{ side }};
    {{ row(false)|trim }}
  }
}

static __attribute__((noinline)) void multiply_rest(uint64_t pixel, uint64_t sums) {
  for (int y = {{ part }}; y < {{ images * rows }}; y++) {
    {{ row(false)|trim }}
    sums += {{ P }};
    pixel += {{ side }};
  }
}

void solution(int8_t inp[{{ batch }}][{{ side }}][{{ side }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  config_ld({{ C }}, 1.0f, {{ plane }}, 0);
  config_ld({{ K }}, 1.0f, 16, 1);
  config_ld(0, 1.0f, 16, 2);
  for (int c = 0; c < 4; c++) {
    mvin2(&weights[0][0][c * 16][0], 8192 + c * 16, 16, 16);
  }
  // Bias lies in the L2 and comes in between lines of the image, which do not.
  for (int p = 0; p < {{ moves }}; p++) {
    mvin(&inp[0][0][0][0] + p * {{ 16 * C }}, p * 16, 64, {{ height(moves ~ " - p", plane) }});
    if (p < {{ tiles }}) {
      mvin3(&bias[0][0], 0x80000000 + p * 16, 16, {{ height(tiles ~ " - p", area) }});
    }
  }
{% if chunks == 1 %}
  uint64_t bank = 0;
{% endif %}
  uint64_t filter = 8192;
  uint64_t half = 0;
  const int8_t *tap = &weights[0][0][0][0];
  int8_t *store_to = 0;
  for (int b = 0; b < {{ batch }}; {{ "b++" if images == 1 else "b += " ~ images }}) {
{% if rows < P %}
    for (int y = 0; y < {{ P }}; y += {{ rows }}) {
      int more = b < {{ batch - 1 }} || y < {{ P - rows }};
      const int8_t *next_block = y < {{ P - rows }} ? &inp[b][y + {{ rows }}][0][0] : &inp[b + 1][0][0][0];
      {{ block|trim|indent(2) }}
    }
{% else %}
    int more = b < {{ batch - images }};
    {{ block|trim }}
{% endif %}
  }
  for (int t = 0; t < {{ tiles }}; t++) {
    mvout(store_to + t * {{ 16 * K }}, 0x80000000 + (half ^ 512) + t * 16, 16, {{ height(tiles ~ " - t", area) }});
  }
  fence();
}
