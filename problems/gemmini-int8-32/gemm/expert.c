{% set Mt = (M + 31) // 32 %}
{% set Kt = K // 32 %}
{% set panels = N // 64 %}
{% macro height(i) %}{% if M % 32 %}({{ i }}) < {{ M // 32 }} ? 32 : {{ M % 32 }}{% else %}32{% endif %}{% endmacro %}
{% set resident = K * N <= 131072 %}
// Hand schedule. {% if resident %}B stays in scratchpad banks 2 and 3, panels of 64 columns in turn;
{%- else %}Panels of B of 64 columns alternate between scratchpad banks 2 and 3, each
// moved in while the one before is used;
{%- endif %}

// 32 rows of A at a time alternate between banks 0 and 1, moved in one step ahead;
// 32x64 blocks of sums alternate between the halves of the
// accumulator, so that one leaves, in whole lines, while the next is computed.
// The limits: this instance has one load command in flight, and the memory behind
// the L2 gives 8 bytes per cycle, which four times the array's speed outruns.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 32, 0);
  config_ld({{ N }}, 1.0f, 32, 1);
  uint64_t a = 0;
  uint64_t c = 0;
  for (int k = 0; k < {{ Kt // 2 }}; k++) {
    mvin(&A[0][k * 64], k * 64, 64, 32);
    for (int kk = 0; kk < 2; kk++) {
      mvin2(&B[k * 64 + kk * 32][0], 4096 + k * 128 + kk * 64, 64, 32);
    }
  }
{% if resident %}
  for (int i = 0; i < {{ Mt }}; i++) {
    int rows = {{ height("i") }};
    int next_rows = {{ height("i + 1") }};
    for (int j = 0; j < {{ panels }}; j++) {
      uint64_t b = 4096 + (j & 1) * 2048 + (j >> 1) * {{ Kt * 64 }};
{% else %}
  for (int j = 0; j < {{ panels }}; j++) {
    uint64_t b = 4096 + (j & 1) * 2048;
    for (int i = 0; i < {{ Mt }}; i++) {
      int rows = {{ height("i") }};
      int next = i < {{ Mt - 1 }} ? i + 1 : 0;
      int next_rows = {{ height("next") }};
{% endif %}
      for (int k = 0; k < {{ Kt // 2 }}; k++) {
{% if resident %}
        if (i == 0 && j < {{ panels - 1 }}) {
          uint64_t next_b = 4096 + ((j + 1) & 1) * 2048 + ((j + 1) >> 1) * {{ Kt * 64 }};
          for (int kk = 0; kk < 2; kk++) {
            mvin2(&B[k * 64 + kk * 32][j * 64 + 64], next_b + k * 128 + kk * 64, 64, 32);
          }
        }
        if (j == 0 && i < {{ Mt - 1 }}) {
          mvin(&A[i * 32 + 32][k * 64], (a ^ 2048) + k * 64, 64, next_rows);
        }
{% else %}
        if (j < {{ panels - 1 }} || i < {{ Mt - 1 }}) {
          mvin(&A[next * 32][k * 64], (a ^ 2048) + k * 64, 64, next_rows);
        }
        if (j < {{ panels - 1 }} && i * {{ Kt // 2 }} + k < {{ Kt }}) {
          int row = i * {{ Kt // 2 }} + k;
          mvin2(&B[row * 32][j * 64 + 64], (b ^ 2048) + row * 64, 64, 32);
        }
{% endif %}
        for (int kk = 0; kk < 2; kk++) {
          for (int jj = 0; jj < 2; jj++) {
            preload(b + k * 128 + kk * 64 + jj * 32, (k == 0 && kk == 0 ? 0x80000000 : 0xc0000000) + c + jj * 32, 32, 32, 32, rows);
            compute_preloaded(a + k * 64 + kk * 32, GARBAGE_ADDR, 32, rows, 32, 32);
          }
        }
      }
      mvout(&C[i * 32][j * 64], 0x80000000 + c, 64, rows);
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
