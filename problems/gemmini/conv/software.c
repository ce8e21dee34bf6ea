{% set rows = library.rows %}
{% set columns = library.columns %}
{% set depth = library.depth %}
{# Local rows of 16 input channels of a block's pixels. #}
{% set plane = batch * (rows + 2) * (columns + 2) %}
{% set filter = 16384 - 9 * depth %}
{% macro least(name, size, start, total) %}
{% if total % size %}
int {{ name }} = {{ start }} + {{ size }} < {{ total }} ? {{ size }} : {{ total }} - {{ start }};
{%- else %}
const int {{ name }} = {{ size }};
{%- endif %}
{% endmacro %}
// Blocks of {{ batch }} images, {{ rows }}x{{ columns }} pixels, 16 output and {{ depth }} input channels, sized by rule as
// the usual library does: move all of a block in, compute, move it out; nothing
// overlaps by design, and operands always take the same rows.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  config_ld({{ C }}, 1.0f, {{ plane }}, 0);
  config_ld({{ K }}, 1.0f, 16, 1);
  config_ld(0, 1.0f, 16, 2);
  for (int y0 = 0; y0 < {{ P }}; y0 += {{ rows }}) {
    {{ least("height", rows, "y0", P) }}
    for (int x0 = 0; x0 < {{ P }}; x0 += {{ columns }}) {
      {{ least("width", columns, "x0", P) }}
      for (int o = 0; o < {{ K }}; o += 16) {
        for (int b = 0; b < {{ batch }}; b++) {
          for (int y = 0; y < height; y++) {
            mvin3(&bias[0][o], 0x80000000 + (b * {{ rows }} + y) * {{ columns }}, 16, width);
          }
        }
        for (int c0 = 0; c0 < {{ C }}; c0 += {{ depth }}) {
          {{ least("depth", depth, "c0", C) }}
          for (int b = 0; b < {{ batch }}; b++) {
            for (int y = 0; y < height + 2; y++) {
              for (int x = 0; x < width + 2; x += 16) {
                for (int c = 0; c < depth; c += 64) {
                  mvin(&inp[b][y0 + y][x0 + x][c0 + c], c / 16 * {{ plane }} + (b * {{ rows + 2 }} + y) * {{ columns + 2 }} + x,
                       c + 64 <= depth ? 64 : depth - c, x + 16 <= width + 2 ? 16 : width + 2 - x);
                }
              }
            }
          }
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              for (int c = 0; c < depth; c += 16) {
                mvin2(&weights[ky][kx][c0 + c][o], {{ filter }} + (ky * 3 + kx) * depth + c, 16, 16);
              }
            }
          }
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              for (int c = 0; c < depth; c += 16) {
                for (int b = 0; b < {{ batch }}; b++) {
                  for (int y = 0; y < height; y++) {
                    uint32_t sums = 0xc0000000 + (b * {{ rows }} + y) * {{ columns }};
                    uint32_t image = c / 16 * {{ plane }} + (b * {{ rows + 2 }} + y + ky) * {{ columns + 2 }} + kx;
                    if (b == 0 && y == 0) {
                      preload({{ filter }} + (ky * 3 + kx) * depth + c, sums, 16, 16, 16, width);
                      compute_preloaded(image, GARBAGE_ADDR, 16, width, 16, 16);
                    } else {
                      preload(GARBAGE_ADDR, sums, 16, 16, 16, width);
                      compute_accumulated(image, GARBAGE_ADDR, 16, width, 16, 16);
                    }
                  }
                }
              }
            }
          }
        }
        for (int b = 0; b < {{ batch }}; b++) {
          for (int y = 0; y < height; y++) {
            mvout(&output[b][y0 + y][x0][o], 0x80000000 + (b * {{ rows }} + y) * {{ columns }}, 16, width);
          }
        }
      }
    }
  }
  fence();
}
