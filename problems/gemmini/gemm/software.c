{% set Mt = M // 16 %}
{% set Nt = N // 16 %}
{% set Kt = K // 16 %}
{% set I = library.I %}
{% set J = library.J %}
{% set D = library.K %}
{% macro least(name, size, start, total) %}
{% if total % size %}
int {{ name }} = {{ start }} + {{ size }} < {{ total }} ? {{ size }} : {{ total }} - {{ start }};
{%- else %}
const int {{ name }} = {{ size }};
{%- endif %}
{% endmacro %}
// Blocks of {{ I }}x{{ J }} tiles of C and {{ D }} tiles of depth, sized by rule as the usual
// library does: move all of a block in, compute, move it out; nothing overlaps
// by design, and operands always take the same rows.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 16, 0);
  config_ld({{ N }}, 1.0f, 16, 1);
  for (int i0 = 0; i0 < {{ Mt }}; i0 += {{ I }}) {
    {{ least("rows", I, "i0", Mt) }}
    for (int j0 = 0; j0 < {{ Nt }}; j0 += {{ J }}) {
      {{ least("columns", J, "j0", Nt) }}
      for (int k0 = 0; k0 < {{ Kt }}; k0 += {{ D }}) {
        {{ least("depth", D, "k0", Kt) }}
        uint32_t b = 16384 - depth * columns * 16;
        for (int j = 0; j < columns; j += 4) {
          for (int k = 0; k < depth; k++) {
            mvin2(&B[(k0 + k) * 16][(j0 + j) * 16], b + (k * columns + j) * 16, (j + 4 < columns ? 4 : columns - j) * 16, 16);
          }
        }
        for (int i = 0; i < rows; i++) {
          for (int k = 0; k < depth; k += 4) {
            mvin(&A[(i0 + i) * 16][(k0 + k) * 16], (i * depth + k) * 16, (k + 4 < depth ? 4 : depth - k) * 16, 16);
          }
        }
        for (int j = 0; j < columns; j++) {
          for (int k = 0; k < depth; k++) {
            for (int i = 0; i < rows; i++) {
              uint32_t c = (k0 + k == 0 ? 0x80000000 : 0xc0000000) + (i * columns + j) * 16;
              if (i == 0) {
                preload(b + (k * columns + j) * 16, c, 16, 16, 16, 16);
                compute_preloaded((i * depth + k) * 16, GARBAGE_ADDR, 16, 16, 16, 16);
              } else {
                preload(GARBAGE_ADDR, c, 16, 16, 16, 16);
                compute_accumulated((i * depth + k) * 16, GARBAGE_ADDR, 16, 16, 16, 16);
              }
            }
          }
        }
      }
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
          mvout(&C[(i0 + i) * 16][(j0 + j) * 16], 0x80000000 + (i * columns + j) * 16, 16, 16);
        }
      }
    }
  }
  fence();
}
