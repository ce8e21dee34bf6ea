{# Three schedules, by what is scarce: few rows of A, a short K, neither. #}
{% set Mt = M // 16 %}
{% set slices = K // 64 %}
{% set panels = N // 64 %}
{% set few = Mt <= 8 %}
{% set resident = not few and 64 < N and K * N <= 32768 %}
{# Rows of tiles per block, and per step: what shares a weight. #}
{% set rows = Mt if few else 8 if Mt % 8 == 0 else 7 %}
{% set step = 1 if rows % 2 else 2 %}
{# With two rows of tiles the loads never pause; then B takes three banks in turn, A one. #}
{% set hungry = Mt == 2 %}
{% set first_b = 4096 if hungry else 8192 %}
{# Panels taken together: as many as the accumulator holds sums of, twice. #}
{% set wide = 8 // rows if few and not hungry else 1 %}
// Hand schedule. {{ rows * 16 }}x64 blocks of C, K in slices of 64.
{% if step == 2 %}
// A step multiplies two rows of tiles by a 64x64 slice of B: the second row keeps the
// weights of the first. Their sums lie in different halves of the accumulator, so that
// each half is free for moves out in every other product.
{% else %}
// A step multiplies one row of tiles by a 64x64 slice of B. Rows alternate between the
// halves of the accumulator, so that one leaves while the next is computed.
{% endif %}
{% if few %}
// A is moved in once, B streams through, a slice ahead of its use{{ ", for " ~ wide ~ " panels of 64\n// columns together, so that there is more to multiply while A still comes in" if 1 < wide }}.
{% elif resident %}
// B is moved in once, panels of 64 columns in turn; A in blocks, each while the one
// before is used.
{% else %}
// Panels of B, 64 columns wide, take turns: the next one comes in during the last
// block of a panel. A streams through, a slice ahead of its use.
{% endif %}
{% if hungry %}
// A lies in scratchpad bank 0, slices of B in banks 1, 2 and 3 in turn: neither the
// slice in use nor the one before, which the array may still read, is in the way.
{% else %}
// Slices of A alternate between scratchpad banks 0 and 1, those of B between 2 and 3, so
{% if few and rows == 8 %}
// that moves of B never meet the array in a bank. For this they start with a slice's second
// step: the array is up to eight products behind the core and may be in the slice before.
{% else %}
// that moves never meet the array in a bank. For this they start in the middle of a step:
// the array is up to eight products behind the core and may be in the slice before.
{% endif %}
{% endif %}
// Products and moves are functions of their own, so that the registers suffice and the
// core is never late. {{ expert.peak }} % of peak.
{% if expert.limit == "stores" %}
// The limit is the memory behind the L2: a line of C that is written throws out one that
// was, which keeps one of ten trackers of the L2 for about 163 cycles. {{ M * N // 64 }} lines cost
// {{ M * N // 64 * 163 // 10 }} cycles in this way, the products {{ M * N * K // 256 }}.
{% elif expert.limit == "loads" %}
// The limit is the memory behind the L2: a line that throws another one out comes every
// 11 cycles at best. The {{ (M * K + K * N + M * N) // 64 }} lines of A, B and C take {{ (M * K + K * N + M * N) // 64 * 11 }} in this way, less what the
// L2 still holds from the call before, the products {{ M * N * K // 256 }}.
{% else %}
// What is missing is the way in of the first slices and the way out of the last block.
{% endif %}
static __attribute__((noinline)) void multiply(uint64_t a, uint64_t b, uint64_t c) {
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < 4; j++) {
      preload(b + k * 64 + j * 16, c + j * 16, 16, 16, 16, 16);
      compute_preloaded(a + k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
{% if step == 2 %}
      preload(GARBAGE_ADDR, c + 512 + j * 16, 16, 16, 16, 16);
      compute_accumulated(a + 64 + k * 16, GARBAGE_ADDR, 16, 16, 16, 16);
{% endif %}
    }
    c |= 0x40000000;
  }
}

static inline void load_a(const int8_t *from, uint64_t to) {
  mvin(from, to, 64, 16);
{% if step == 2 %}
  mvin(from + {{ 16 * K }}, to + 64, 64, 16);
{% endif %}
}

static inline void load_b(const int8_t *from, uint64_t to) {
  for (int k = 0; k < 4; k++) {
    mvin2(from + k * {{ 16 * N }}, to + k * 64, 64, 16);
  }
}
{% macro begin() %}

void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 16, 0);
  config_ld({{ N }}, 1.0f, 16, 1);
  load_b(&B[0][0], {{ first_b }});
  for (int p = 0; p < {{ rows }}; {{ "p++" if step == 1 else "p += 2" }}) {
    load_a(&A[p * 16][0], p * 64);
  }
  uint64_t set = 0;
{%- endmacro %}
{# A step: row of tiles `row` and, of two, the next one, by slice k of panel j. #}
{% set panel_b = "b + w * 256" if 1 < wide else "b" %}
{% macro products(row, load, early) %}
          uint64_t c = set + {{ "p * 32" if step == 2 else "(p >> 1) * 64 + (p & 1) * 512" }}{% if 1 < wide %} + w * {{ rows * 32 }}{% endif %};
{% if early %}
          {{ load }}
{% endif %}
          multiply(a, {{ panel_b }}, {{ "(k == 0 ? 0x80000000 : 0xc0000000)" if 1 < slices else "0x80000000" }} + c);
{% if not early %}
          {{ load }}
{% endif %}
          multiply(a + 32, {{ panel_b }} + 128, 0xc0000000 + c);
{% if slices == 1 %}
          mvout(&C[(i + p) * 16][{{ "(j + w)" if 1 < wide else "j" }} * 64], 0x80000000 + c, 64, 16);
          mvout(&C[(i + p) * 16 + 16][{{ "(j + w)" if 1 < wide else "j" }} * 64], 0x80000200 + c, 64, 16);
{% else %}
          if (k == {{ slices - 1 }}) {
            mvout(&C[{{ row }} * 16][{{ "(j + w)" if 1 < wide else "j" }} * 64], 0x80000000 + c, 64, 16);
{% if step == 2 %}
            mvout(&C[{{ row }} * 16 + 16][{{ "(j + w)" if 1 < wide else "j" }} * 64], 0x80000200 + c, 64, 16);
{% endif %}
          }
{% endif %}
{%- endmacro %}
{% if few %}

// Moves in what the next slice takes; the block of C beside it has all rows.
static __attribute__((noinline)) void load(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int j, int k, {% if 1 < wide %}int w, {% endif %}int p, uint64_t b) {
  int next = k < {{ slices - 1 }} ? k + 1 : 0;
  if (j == 0 && next > 0{% if 1 < wide %} && w == 0{% endif %}) {
{% if hungry %}
    load_a(&A[0][next * 64], next * 128);
{% else %}
    load_a(&A[p * 16][next * 64], (next & 1) * 4096 + (next >> 1) * {{ rows * 64 }} + p * 64);
{% endif %}
  }
{% if hungry %}
  if (j < {{ panels - 1 }} || next > 0) {
{% else %}
  if (p == {{ 2 if rows == 8 else 0 }} && (j < {{ panels - wide }} || next > 0)) {
{% endif %}
{% if 1 < wide %}
    load_b(&B[next * 64][(next > 0 ? j + w : j + w + {{ wide }}) * 64], b + w * 256);
{% else %}
    load_b(&B[next * 64][(next > 0 ? j : j + 1) * 64], b);
{% endif %}
  }
}
{{ begin() }}
{% if 1 < wide %}
  for (int w = 1; w < {{ wide }}; w++) {
    load_b(&B[0][w * 64], {{ first_b }} + w * 256);
  }
{% endif %}
  uint64_t b = {{ first_b }};
{% if 1 < wide %}
  for (int j = 0; j < {{ panels }}; j += {{ wide }}) {
    for (int k = 0; k < {{ slices }}; k++) {
      uint64_t next_b = b < 12288 ? b + 4096 : {{ first_b }};
      for (int w = 0; w < {{ wide }}; w++) {
        for (int p = 0; p < {{ rows }}; p += 2) {
          uint64_t a = (k & 1) * 4096 + (k >> 1) * {{ rows * 64 }} + p * 64;
          {{ products("p", "load(A, B, j, k, w, p, next_b);", false)|trim }}
        }
      }
      b = next_b;
    }
    set ^= 256;
  }
{% else %}
  for (int j = 0; j < {{ panels }}; j++) {
    for (int k = 0; k < {{ slices }}; k++) {
      uint64_t next_b = b < 12288 ? b + 4096 : {{ first_b }};
      for (int p = 0; p < {{ rows }}; p += 2) {
{% if hungry %}
        uint64_t a = k * 128;
{% else %}
        uint64_t a = (k & 1) * 4096 + (k >> 1) * {{ rows * 64 }} + p * 64;
{% endif %}
        {{ products("p", "load(A, B, j, k, p, next_b);", hungry or rows == 8)|trim|replace("\n  ", "\n") }}
      }
      b = next_b;
    }
    set ^= 256;
  }
{% endif %}
  fence();
}
{% elif resident %}

// Moves in a share of the next block of A; during the first block also {% if 1 < slices %}what is still
// missing of it, and {% endif %}the next slice of B.
static __attribute__((noinline)) void load(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int i, int j, {% if 1 < slices %}int k, {% endif %}int p, uint64_t bank) {
  if (i == 0) {
{% if 1 < slices %}
    if (j == 0 && k < {{ slices - 1 }}) {
      load_a(&A[p * 16][k * 64 + 64], (~k & 1) * 4096 + (k + 1) * {{ rows * 64 }} + p * 64);
    }
    int next = j * {{ slices }} + k + 1;
    if (p == 0 && next < {{ panels * slices }}) {
      load_b(&B[next % {{ slices }} * 64][next / {{ slices }} * 64], 8192 + (next & 1) * 4096 + (next >> 1) * 256);
    }
{% else %}
    int next = j + 1;
    if (p == 0 && next < {{ panels }}) {
      load_b(&B[0][next * 64], 8192 + (next & 1) * 4096 + (next >> 1) * 256);
    }
{% endif %}
  }
  if (i < {{ Mt - rows }}{% if 2 < panels %} && p % {{ panels }} == 0{% endif %}) {
    int row = j * {{ rows // panels }} + p / {{ panels }};
{% if 1 < slices %}
    mvin(&A[(i + {{ rows }} + row) * 16][k * 64], (~(bank + k) & 1) * 4096 + k * {{ rows * 64 }} + row * 64, 64, 16);
{% else %}
    mvin(&A[(i + {{ rows }} + row) * 16][0], (bank ^ 1) * 4096 + row * 64, 64, 16);
{% endif %}
  }
}
{{ begin() }}
  uint64_t bank = 0;
  for (int i = 0; i < {{ Mt }}; i += {{ rows }}) {
    for (int j = 0; j < {{ panels }}; j++) {
{% if 1 < slices %}
      for (int k = 0; k < {{ slices }}; k++) {
        int slice = j * {{ slices }} + k;
        uint64_t b = 8192 + (slice & 1) * 4096 + (slice >> 1) * 256;
        for (int p = 0; p < {{ rows }}; p += 2) {
          uint64_t a = ((bank + k) & 1) * 4096 + k * {{ rows * 64 }} + p * 64;
          {{ products("(i + p)", "load(A, B, i, j, k, p, bank);", false)|trim }}
        }
      }
{% else %}
      uint64_t b = 8192 + (j & 1) * 4096 + (j >> 1) * 256;
      for (int p = 0; p < {{ rows }}; p += 2) {
        uint64_t a = bank * 4096 + p * 64;
        {{ products("(i + p)", "load(A, B, i, j, p, bank);", false)|trim|replace("\n  ", "\n") }}
      }
{% endif %}
      set ^= 256;
    }
    bank ^= 1;
  }
  fence();
}
{% else %}
{% set half = (rows + 1) // 2 %}

// Moves in the next slice of A, in the first half of a slice's steps; then, during the
// last block of a panel, a slice of the next panel, and during the very first block the
// next slice of B.
static __attribute__((noinline)) void load(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int i, int j, int k, int p) {
  int next_k = k < {{ slices - 1 }} ? k + 1 : 0;
  int next_i = k < {{ slices - 1 }} ? i : i < {{ Mt - rows }} ? i + {{ rows }} : 0;
  if (p < {{ half }} && (next_i > 0 || next_k > 0 || j < {{ panels - 1 }})) {
    uint64_t a = (next_k & 1) * 4096 + p * 128;
    load_a(&A[(next_i + p * 2) * 16][next_k * 64], a);
{% if step == 2 %}
    load_a(&A[(next_i + p * 2 + 2) * 16][next_k * 64], a + 128);
{% else %}
    if (p < {{ half - 1 }}) {
      load_a(&A[(next_i + p * 2 + 1) * 16][next_k * 64], a + 64);
    }
{% endif %}
  }
  if (p == {{ half }}) {
    if (i == 0 && j == 0 && next_k > 0) {
      load_b(&B[next_k * 64][0], 8192 + (next_k & 1) * 4096 + next_k * 256);
    }
{% if 1 < panels %}
    if (i == {{ Mt - rows }} && j < {{ panels - 1 }}) {
      load_b(&B[k * 64][j * 64 + 64], 8192 + (~(j + k) & 1) * 4096 + k * 256);
    }
{% endif %}
  }
}
{{ begin() }}
  for (int j = 0; j < {{ panels }}; j++) {
    for (int i = 0; i < {{ Mt }}; i += {{ rows }}) {
      for (int k = 0; k < {{ slices }}; k++) {
        uint64_t b = 8192 + ((j + k) & 1) * 4096 + k * 256;
        for (int p = 0; p < {{ rows }}; {{ "p++" if step == 1 else "p += 2" }}) {
          uint64_t a = (k & 1) * 4096 + p * 64;
          {{ products("(i + p)", "load(A, B, i, j, k, p);", false)|trim }}
        }
      }
      set ^= 256;
    }
  }
  fence();
}
{% endif %}
