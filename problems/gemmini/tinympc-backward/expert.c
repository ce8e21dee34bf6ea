{% set last = H - 1 %}
{% set groups = (last + 3) // 4 %}
{% set odd = last % 4 %}
{% macro count() %}
{% if odd %}
    int rows = g < {{ groups - 1 }} ? 4 : {{ odd }};
{%- else %}
    const int rows = 4;
{%- endif %}
{% endmacro %}
// Hand schedule. Everything stays in the scratchpad, vectors as rows, so that one
// move takes four steps of the horizon and the products with r, and those for d,
// are matrix products over four steps. Only p[i] from p[i + 1] is a chain:
// output stationary, so that the terms of a sum add up inside the array and each
// step costs one way through it; for this AmBKt is transposed once, by the array.
// Step i keeps r[i], q[i] and p[i + 1] in row i % 4 of the tiles of group i / 4.
void solution(float Bdyn[12][4], float Quu_inv[4][4], float Kinf[4][12], float AmBKt[12][12], float p[{{ H + 1 }}][12][1], float d[{{ H + 1 }}][4][1], float r[{{ H }}][4][1], float q[{{ H }}][12][1]) {
  static const float one[4][4] = {[0][0] = 1, [1][1] = 1, [2][2] = 1, [3][3] = 1};
  // Bank 0: tile (k, n) of AmBKt' at 12 k + 4 n, then Bdyn, Quu_inv, -Kinf, AmBKt.
  const uint64_t BDYN = 36;
  const uint64_t QUU = 48;
  const uint64_t KINF = 52;
  const uint64_t AMBKT = 64;
  // Bank 1: p; behind the groups p[0]. Bank 2: r, q, sums. Bank 3: one, d.
  const uint64_t P = 4096;
  const uint64_t R = 8192;
  const uint64_t Q = R + {{ groups * 4 }};
  const uint64_t SUMS = Q + {{ groups * 12 }};
  const uint64_t ONE = 12288;
  const uint64_t D = ONE + 4;
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, true, false);
  config_st(48, 1.0f);
  config_ld(48, 1.0f, 4, 0);
  config_ld(16, 1.0f, 4, 1);
  config_ld(48, -1.0f, 4, 2);
  mvin2(&one[0][0], ONE, 4, 4);
  for (int n = 0; n < 3; n++) {
    mvin(&AmBKt[n * 4][0], AMBKT + n * 12, 12, 4);
  }
  mvin3(&Kinf[0][0], KINF, 12, 4);
  for (int g = 0; g < {{ groups }}; g++) {
    {{ count() }}
    mvin2(&r[g * 4][0][0], R + g * 4, 4, rows);
    mvin(&q[g * 4][0][0], Q + g * 12, 12, rows);
  }
  mvin(&p[{{ last }}][0][0], P + {{ (last - 1) // 4 * 12 + (last - 1) % 4 }}, 12, 1);
  for (int k = 0; k < 3; k++) {
    mvin2(&Bdyn[k * 4][0], BDYN + k * 4, 4, 4);
  }
  mvin2(&Quu_inv[0][0], QUU, 4, 4);
  preload(ONE, 0, 4, 4, 4, 4);
  compute_preloaded(AMBKT, GARBAGE_ADDR, 4, 4, 4, 4);
  for (int t = 1; t < 9; t++) {
    preload(GARBAGE_ADDR, t % 3 * 12 + t / 3 * 4, 4, 4, 4, 4);
    compute_accumulated(AMBKT + t * 4, GARBAGE_ADDR, 4, 4, 4, 4);
  }
  config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 1, false, false);
  // q - Kinf' r, in place of q
{# The chain begins with the last row: it must be a result of its own to be waited for. #}
{% macro without_gain(g, first, rows) %}
  for (int n = 0; n < 3; n++) {
    preload(Q + {{ g * 12 + first }} + n * 4, Q + {{ g * 12 + first }} + n * 4, 4, {{ rows }}, 4, {{ rows }});
    compute_preloaded(R + {{ g * 4 + first }}, KINF + n * 4, 4, {{ rows }}, 4, 4);
  }
{% endmacro %}
{{ without_gain(groups - 1, (last - 1) % 4, 1) -}}
{% if 1 < last - (groups - 1) * 4 %}
{{ without_gain(groups - 1, 0, (last - 1) % 4) -}}
{% endif %}
{% for g in range(groups - 1)|reverse %}
{{ without_gain(g, 0, 4) -}}
{% endfor %}
  for (int i = {{ last - 1 }}; i >= 0; i--) {
    uint64_t from = P + i / 4 * 12 + i % 4;
    uint64_t to = i == 0 ? P + {{ groups * 12 }} : P + (i - 1) / 4 * 12 + (i - 1) % 4;
    for (int n = 0; n < 3; n++) {
      preload(Q + i / 4 * 12 + i % 4 + n * 4, GARBAGE_ADDR, 4, 1, 4, 1);
      compute_preloaded(from, n * 4, 4, 1, 4, 4);
      preload(GARBAGE_ADDR, GARBAGE_ADDR, 4, 1, 4, 1);
      compute_accumulated(from + 4, 12 + n * 4, 4, 1, 4, 4);
      preload(GARBAGE_ADDR, to + n * 4, 4, 1, 4, 1);
      compute_accumulated(from + 8, 24 + n * 4, 4, 1, 4, 4);
    }
  }
  for (int g = {{ groups - 1 }}; g >= 0; g--) {
    {{ count() }}
    preload(R + g * 4, GARBAGE_ADDR, 4, rows, 4, rows);
    compute_preloaded(P + g * 12, BDYN, 4, rows, 4, 4);
    preload(GARBAGE_ADDR, GARBAGE_ADDR, 4, rows, 4, rows);
    compute_accumulated(P + g * 12 + 4, BDYN + 4, 4, rows, 4, 4);
    preload(GARBAGE_ADDR, SUMS + g * 4, 4, rows, 4, rows);
    compute_accumulated(P + g * 12 + 8, BDYN + 8, 4, rows, 4, 4);
  }
  for (int g = {{ groups - 1 }}; g >= 0; g--) {
    {{ count() }}
    preload(GARBAGE_ADDR, D + g * 4, 4, rows, 4, rows);
    compute_preloaded(SUMS + g * 4, QUU, 4, rows, 4, 4);
  }
  // p[{{ last }}] is the one that was given.
{% for g in range((last + 2) // 4) %}
  mvout(&p[{{ g * 4 + 1 }}][0][0], P + {{ g * 12 }}, 12, {{ [4, last - 1 - g * 4]|min }});
{% endfor %}
  mvout(&p[0][0][0], P + {{ groups * 12 }}, 12, 1);
  config_st(16, 1.0f);
  for (int g = {{ groups - 1 }}; g >= 0; g--) {
    {{ count() }}
    mvout(&d[g * 4][0][0], D + g * 4, 4, rows);
  }
  fence();
}
