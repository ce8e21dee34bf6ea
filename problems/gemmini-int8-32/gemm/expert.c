{% set Mt = (M + 31) // 32 %}
{% set slices = K // 64 %}
{% macro height(i) %}{% if M % 32 %}({{ i }}) < {{ M // 32 }} ? 32 : {{ M % 32 }}{% else %}32{% endif %}{% endmacro %}
{% set resident = K * N <= 131072 %}
{# Columns of a panel of B: what a scratchpad bank holds, if panels come and go. #}
{% set width = 64 if resident else 256 if K <= 256 else 128 %}
{% set panels = N // width %}
{# Moves of B per slice of 64 rows, and steps from one move to the next. #}
{% set moves = width // 32 %}
{% set spacing = Mt // moves %}
// Hand schedule. {% if resident %}B stays in scratchpad banks 2 and 3, panels of 64 columns in turn;
// 32 rows of A at a time alternate between banks 0 and 1, moved in one step ahead;
{%- else %}Panels of B of {{ width }} columns, as much as a bank holds, alternate between
// scratchpad banks 2 and 3, each moved in bit by bit while the one before is used; 32
// rows of A at a time alternate between banks 0 and 1, moved in one step ahead. The
// wider a panel, the fewer times A comes in: {{ panels }};
{%- endif %}

// 32x{{ width }} blocks of sums alternate between the halves of the accumulator, so that one
// leaves, in whole lines, while the next is computed.
// {{ expert.peak }} % of peak. The limit is the memory behind the L2, which four times the array's
// speed outruns: this instance has one load command in flight, so that each waits for
// its first line; and a line of C that is written throws out one that was, which keeps
// one of ten trackers of the L2 for about 163 cycles.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 32, 0);
  config_ld({{ N }}, 1.0f, 32, 1);
  uint64_t a = 0;
  uint64_t c = 0;
  for (int k = 0; k < {{ slices }}; k++) {
    mvin(&A[0][k * 64], k * 64, 64, 32);
    for (int kk = 0; kk < 2; kk++) {
{% if resident %}
      mvin2(&B[k * 64 + kk * 32][0], 4096 + k * 128 + kk * 64, 64, 32);
{% else %}
      for (int w = 0; w < {{ width }}; w += 64) {
        mvin2(&B[k * 64 + kk * 32][w], 4096 + k * {{ width * 2 }} + kk * {{ width }} + w, 64, 32);
      }
{% endif %}
    }
  }
{% if resident %}
  for (int i = 0; i < {{ Mt }}; i++) {
    int rows = {{ height("i") }};
    int next_rows = {{ height("i + 1") }};
    for (int j = 0; j < {{ panels }}; j++) {
      uint64_t b = 4096 + (j & 1) * 2048 + (j >> 1) * {{ slices * 128 }};
{% else %}
  for (int j = 0; j < {{ panels }}; j++) {
    uint64_t b = 4096 + (j & 1) * 2048;
    int column = j * {{ width }} + {{ width }};
    int row = j < {{ panels - 1 }} ? 0 : {{ K }};
    int wait = 0;
    for (int i = 0; i < {{ Mt }}; i++) {
      int rows = {{ height("i") }};
      int next = i < {{ Mt - 1 }} ? i + 1 : 0;
      int next_rows = {{ height("next") }};
{% endif %}
      for (int k = 0; k < {{ slices }}; k++) {
{% if resident %}
        if (i == 0 && j < {{ panels - 1 }}) {
          uint64_t next_b = 4096 + ((j + 1) & 1) * 2048 + ((j + 1) >> 1) * {{ slices * 128 }};
          for (int kk = 0; kk < 2; kk++) {
            mvin2(&B[k * 64 + kk * 32][j * 64 + 64], next_b + k * 128 + kk * 64, 64, 32);
          }
        }
        if (j == 0 && i < {{ Mt - 1 }}) {
          mvin(&A[i * 32 + 32][k * 64], (a ^ 2048) + k * 64, 64, next_rows);
        }
{% endif %}
        for (int kk = 0; kk < 2; kk++) {
{% if not resident %}
          // Not at the beginning of a step, where the array may still read the bank
          // that is filled.
          if (kk == 1) {
            if (j < {{ panels - 1 }} || i < {{ Mt - 1 }}) {
              mvin(&A[next * 32][k * 64], (a ^ 2048) + k * 64, 64, next_rows);
            }
            if (wait == 0 && row < {{ K }}) {
              int w = column & {{ width - 64 }};
              mvin2(&B[row][column], (b ^ 2048) + row * {{ width // 32 }} + w, 64, 32);
              column = w < {{ width - 64 }} ? column + 64 : column - {{ width - 64 }};
              row = w < {{ width - 64 }} ? row : row + 32;
            }
            wait = wait < {{ spacing - 1 }} ? wait + 1 : 0;
          }
{% endif %}
          for (int jj = 0; jj < {{ width // 32 }}; jj++) {
            preload(b + k * {{ width * 2 }} + kk * {{ width }} + jj * 32, (k == 0 && kk == 0 ? 0x80000000 : 0xc0000000) + c + jj * 32, 32, 32, 32, rows);
            compute_preloaded(a + k * 64 + kk * 32, GARBAGE_ADDR, 32, rows, 32, 32);
          }
        }
      }
{% if resident %}
      mvout(&C[i * 32][j * 64], 0x80000000 + c, 64, rows);
{% else %}
      for (int w = 0; w < {{ width }}; w += 64) {
        mvout(&C[i * 32][j * {{ width }} + w], 0x80000000 + c + w, 64, rows);
      }
{% endif %}
      c ^= 256;
{% if not resident %}
      a ^= 2048;
{% endif %}
    }
{% if resident %}
    a ^= 2048;
{% endif %}
  }
  fence();
}
