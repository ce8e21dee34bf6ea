{% set Mt = M // 16 %}
{% set I = library.I %}
{% set J = library.J %}
// Blocks of {{ I }}x{{ J }} tiles, sized by rule as the usual library does: from the whole
// matrix, the longer side cut until the accumulator holds a block. Move all of A
// in, add all of B, move the sums out; nothing overlaps by design.
void solution(int8_t A[{{ M }}][{{ N }}], int8_t B[{{ M }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 0);
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 1);
  for (int i0 = 0; i0 < {{ Mt }}; i0 += {{ I }}) {
{% if Mt % I %}
    int rows = i0 + {{ I }} < {{ Mt }} ? {{ I }} : {{ Mt }} - i0;
{% else %}
    const int rows = {{ I }};
{% endif %}
    for (int j0 = 0; j0 < {{ N // 16 }}; j0 += {{ J }}) {
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < {{ J }}; j += 4) {
          mvin(&A[(i0 + i) * 16][(j0 + j) * 16], 0x80000000 + (i * {{ J }} + j) * 16, 64, 16);
        }
      }
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < {{ J }}; j += 4) {
          mvin2(&B[(i0 + i) * 16][(j0 + j) * 16], 0xc0000000 + (i * {{ J }} + j) * 16, 64, 16);
        }
      }
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < {{ J }}; j++) {
          mvout(&C[(i0 + i) * 16][(j0 + j) * 16], 0x80000000 + (i * {{ J }} + j) * 16, 16, 16);
        }
      }
    }
  }
  fence();
}
