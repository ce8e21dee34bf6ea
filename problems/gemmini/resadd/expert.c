{% set across = N // 64 %}
{% set strips = M // 16 * across %}
{% macro strip(name, number) %}&{{ name }}[{% if across == 1 %}({{ number }}) * 16][0{% else %}({{ number }}) / {{ across }} * 16][({{ number }}) % {{ across }} * 64{% endif %}]{% endmacro %}
// Hand schedule. Strips of 16x64, moved in whole lines, in the order of memory, four at a
// time in the halves of the accumulator in turn: the four strips before leave, one behind
// each of A's, and then B is added, so that reads and writes are always under way
// together.
{% if 1048576 < 3 * M * N %}
// The limit is the memory behind the L2: a line of C that is thrown out keeps one of ten
// trackers of the L2 for about 163 cycles, a line of A or B that throws out a clean one for
// about 65. That makes {{ M * N // 64 * 250 // 10 }} cycles.
{% else %}
// The limit is the memory behind the L2. Without what the L2 still holds of A, B and C
// from the call before, it would take {{ 3 * M * N // 8 }} cycles at 8 bytes per cycle.
{% endif %}
void solution(int8_t A[{{ M }}][{{ N }}], int8_t B[{{ M }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 0);
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 1);
  uint64_t half = 0;
  for (int s = 0; s < {{ strips + 4 }}; s += 4) {
    for (int r = 0; r < 4; r++) {
      if (s < {{ strips }}) {
        mvin({{ strip("A", "s + r") }}, 0x80000000 + half + r * 64, 64, 16);
      }
      if (0 < s) {
        mvout({{ strip("C", "s - 4 + r") }}, 0x80000000 + (half ^ 512) + r * 64, 64, 16);
      }
    }
    for (int r = 0; r < 4; r++) {
      if (s < {{ strips }}) {
        mvin2({{ strip("B", "s + r") }}, 0xc0000000 + half + r * 64, 64, 16);
      }
    }
    half ^= 512;
  }
  fence();
}
