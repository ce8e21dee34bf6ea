{% set last = H - 1 %}
{% set groups = (last + 3) // 4 %}
{# Steps of a group: only the last group may have fewer than 4. #}
{% macro count(g) %}{{ [4, last - g * 4]|min }}{% endmacro %}
{# First local rows. #}
{% set BDYN = 36 %}
{% set QUU = 48 %}
{% set KINF = 52 %}
{% set P = 4096 %}
{% set AMBKT = P + groups * 12 + 4 %}
{% set Q = 8192 %}
{% set SUMS = Q + groups * 12 %}
{% set R = 12288 %}
{% set D = R + groups * 4 %}
{% set ONE = D + groups * 4 %}
{% macro place(base, i) %}{{ base + i // 4 * 12 + i % 4 }}{% endmacro %}
// Hand schedule. Everything stays in the scratchpad, vectors as rows, so that one
// move takes four steps of the horizon and the products with r, and those for d,
// are matrix products over four steps, a group. Only p[i] from p[i + 1] is a chain:
// output stationary, so that the terms of a sum add up inside the array and each
// step costs one way through it; for this AmBKt is transposed once, by the array.
{% if 1 < groups %}
// While a step's result is under way, the array works on groups: Kinf' r of the next
// one, d of the one before.
{% endif %}
// Step i keeps r[i], q[i] and p[i + 1] in row i % 4 of the tiles of group i / 4.
// Bank 0 has the matrices, 1 p, 2 q and sums, 3 r and d: what is read together, or
// written meanwhile, lies apart.
// The limit is latency: about 60 cycles a step, in 36 of which the array multiplies,
// and 300 before the first and behind the last.
static __attribute__((noinline)) void step(uint64_t from, uint64_t to, uint64_t q) {
  for (int n = 0; n < 3; n++) {
    preload(q + n * 4, GARBAGE_ADDR, 4, 1, 4, 1);
    compute_preloaded(from, n * 4, 4, 1, 4, 4);
    preload(GARBAGE_ADDR, GARBAGE_ADDR, 4, 1, 4, 1);
    compute_accumulated(from + 4, 12 + n * 4, 4, 1, 4, 4);
    preload(GARBAGE_ADDR, to + n * 4, 4, 1, 4, 1);
    compute_accumulated(from + 8, 24 + n * 4, 4, 1, 4, 4);
  }
}

// q - Kinf' r, in place of q
static inline void without_gain(uint64_t q, uint64_t r, int rows) {
  for (int n = 0; n < 3; n++) {
    preload(q + n * 4, q + n * 4, 4, rows, 4, rows);
    compute_preloaded(r, {{ KINF }} + n * 4, 4, rows, 4, 4);
  }
}

// Bdyn' p + r of a group
static inline void sums(int g, int rows) {
  uint64_t p = {{ P }} + g * 12;
  preload({{ R }} + g * 4, GARBAGE_ADDR, 4, rows, 4, rows);
  compute_preloaded(p, {{ BDYN }}, 4, rows, 4, 4);
  preload(GARBAGE_ADDR, GARBAGE_ADDR, 4, rows, 4, rows);
  compute_accumulated(p + 4, {{ BDYN + 4 }}, 4, rows, 4, 4);
  preload(GARBAGE_ADDR, {{ SUMS }} + g * 4, 4, rows, 4, rows);
  compute_accumulated(p + 8, {{ BDYN + 8 }}, 4, rows, 4, 4);
}

// Quu_inv' times these
static inline void inputs(int g, int rows) {
  preload(GARBAGE_ADDR, {{ D }} + g * 4, 4, rows, 4, rows);
  compute_preloaded({{ SUMS }} + g * 4, {{ QUU }}, 4, rows, 4, 4);
}

void solution(float Bdyn[12][4], float Quu_inv[4][4], float Kinf[4][12], float AmBKt[12][12], float p[{{ H + 1 }}][12][1], float d[{{ H + 1 }}][4][1], float r[{{ H }}][4][1], float q[{{ H }}][12][1]) {
  static const float one[4][4] = {[0][0] = 1, [1][1] = 1, [2][2] = 1, [3][3] = 1};
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, true, false);
  config_st(48, 1.0f);
  config_ld(48, 1.0f, 4, 0);
  config_ld(16, 1.0f, 4, 1);
  config_ld(48, -1.0f, 4, 2);
  mvin2(&one[0][0], {{ ONE }}, 4, 4);
  for (int n = 0; n < 3; n++) {
    mvin(&AmBKt[n * 4][0], {{ AMBKT }} + n * 12, 12, 4);
  }
  mvin3(&Kinf[0][0], {{ KINF }}, 12, 4);
{% for g in range(groups)|reverse %}
  mvin2(&r[{{ g * 4 }}][0][0], {{ R + g * 4 }}, 4, {{ count(g) }});
  mvin(&q[{{ g * 4 }}][0][0], {{ Q + g * 12 }}, 12, {{ count(g) }});
{% endfor %}
  mvin(&p[{{ last }}][0][0], {{ place(P, last - 1) }}, 12, 1);
  for (int k = 0; k < 3; k++) {
    mvin2(&Bdyn[k * 4][0], {{ BDYN }} + k * 4, 4, 4);
  }
  mvin2(&Quu_inv[0][0], {{ QUU }}, 4, 4);
  // Tile (k, n) of AmBKt' at 12 k + 4 n
  preload({{ ONE }}, 0, 4, 4, 4, 4);
  compute_preloaded({{ AMBKT }}, GARBAGE_ADDR, 4, 4, 4, 4);
{% for t in range(1, 9) %}
  preload(GARBAGE_ADDR, {{ t % 3 * 12 + t // 3 * 4 }}, 4, 4, 4, 4);
  compute_accumulated({{ AMBKT + t * 4 }}, GARBAGE_ADDR, 4, 4, 4, 4);
{% endfor %}
  config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 1, false, false);
{# The chain begins with the last row: it must be a result of its own to be waited for. #}
  without_gain({{ place(Q, last - 1) }}, {{ R + last - 1 }}, 1);
{% if 0 < (last - 1) % 4 %}
  without_gain({{ Q + (groups - 1) * 12 }}, {{ R + (groups - 1) * 4 }}, {{ (last - 1) % 4 }});
{% endif %}
{% for g in range(groups - 1)|reverse if last - 1 < g * 4 + 5 %}
  without_gain({{ Q + g * 12 }}, {{ R + g * 4 }}, 4);
{% endfor %}
{% for i in range(last)|reverse %}
  step({{ place(P, i) }}, {{ place(P, i - 1) if 0 < i else P + groups * 12 }}, {{ place(Q, i) }});
{% if i % 4 == 0 and 0 < i %}
  sums({{ i // 4 }}, {{ count(i // 4) }});
{% if i < last - 1 %}
  mvout(&p[{{ i + 1 }}][0][0], {{ P + i // 4 * 12 }}, 12, {{ [4, last - 1 - i]|min }});
{% endif %}
{% elif i % 4 == 1 and 1 < i %}
  without_gain({{ Q + (i - 5) // 4 * 12 }}, {{ R + (i - 5) // 4 * 4 }}, 4);
{% elif i % 4 == 3 and i < (groups - 1) * 4 %}
  inputs({{ (i + 1) // 4 }}, {{ count((i + 1) // 4) }});
{% endif %}
{% endfor %}
  sums(0, {{ count(0) }});
  inputs(0, {{ count(0) }});
  mvout(&p[1][0][0], {{ P }}, 12, {{ [4, last - 1]|min }});
  mvout(&p[0][0][0], {{ P + groups * 12 }}, 12, 1);
  config_st(16, 1.0f);
{% for g in range(groups)|reverse %}
  mvout(&d[{{ g * 4 }}][0][0], {{ D + g * 4 }}, 4, {{ count(g) }});
{% endfor %}
  fence();
}
