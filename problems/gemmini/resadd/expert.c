{% set strips = 4 if M % 64 == 0 else 7 %}
{% set height = strips * 16 %}
// Hand schedule. Blocks of {{ height }}x64, moved in whole lines, in the halves of the accumulator
// in turn: while B is added to one block, the strips of the one before leave, one
// ahead of each of B's, so that reads and writes are always under way together.
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
  for (int j = 0; j < {{ N }}; j += 64) {
    for (int i = 0; i < {{ M + height }}; i += {{ height }}) {
      if (i < {{ M }}) {
        for (int r = 0; r < {{ strips }}; r++) {
          mvin(&A[i + r * 16][j], 0x80000000 + half + r * 64, 64, 16);
        }
      }
      for (int r = 0; r < {{ strips }}; r++) {
        if (0 < i) {
          mvout(&C[i - {{ height }} + r * 16][j], 0x80000000 + (half ^ 512) + r * 64, 64, 16);
        }
        if (i < {{ M }}) {
          mvin2(&B[i + r * 16][j], 0xc0000000 + half + r * 64, 64, 16);
        }
      }
      half ^= 512;
    }
  }
  fence();
}
