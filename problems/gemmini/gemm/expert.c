{# Two schedules: all of B resident, or panels of B in rotation. #}
{% set Mt = M // 16 %}
{% set Kt = K // 16 %}
{% set panels = N // 64 %}
{% if K * N <= 131072 %}
// Hand schedule. B stays in scratchpad banks 2 and 3, panels of 64 columns in turn;
// 16 rows of A at a time alternate between banks 0 and 1, moved in one step ahead;
// 16x64 blocks of sums alternate between the accumulator halves, so that one
// leaves, in whole lines, while the next is computed. First products overwrite.
// Addresses are 64-bit, so that the core need not extend them.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 16, 0);
  config_ld({{ N }}, 1.0f, 16, 1);
  uint64_t a = 0;
  uint64_t half = 0;
  for (int k = 0; k < {{ Kt // 4 }}; k++) {
    mvin(&A[0][k * 64], k * 64, 64, 16);
    for (int kk = 0; kk < 4; kk++) {
      mvin2(&B[k * 64 + kk * 16][0], 8192 + k * 256 + kk * 64, 64, 16);
    }
  }
  for (int i = 0; i < {{ Mt }}; i++) {
    for (int j = 0; j < {{ panels }}; j++) {
      uint64_t b = 8192 + (j & 1) * 4096 + (j >> 1) * {{ Kt * 64 }};
      for (int k = 0; k < {{ Kt // 4 }}; k++) {
{% if 1 < panels %}
        if (i == 0 && j < {{ panels - 1 }}) {
          uint64_t next = 8192 + ((j + 1) & 1) * 4096 + ((j + 1) >> 1) * {{ Kt * 64 }};
          for (int kk = 0; kk < 4; kk++) {
            mvin2(&B[k * 64 + kk * 16][j * 64 + 64], next + k * 256 + kk * 64, 64, 16);
          }
        }
{% endif %}
        for (int kk = 0; kk < 4; kk++) {
          // Not at the beginning or end of a step, where the array may still or
          // already read the bank that is filled.
          if (kk == 2 && j == 0 && i < {{ Mt - 1 }}) {
            mvin(&A[i * 16 + 16][k * 64], (a ^ 4096) + k * 64, 64, 16);
          }
          for (int jj = 0; jj < 4; jj++) {
            preload(b + k * 256 + kk * 64 + jj * 16,
                    (k == 0 && kk == 0 ? 0x80000000 : 0xc0000000) + half + jj * 16, 16, 16, 16, 16);
            compute_preloaded(a + k * 64 + kk * 16, GARBAGE_ADDR, 16, 16, 16, 16);
          }
        }
      }
      mvout(&C[i * 16][j * 64], 0x80000000 + half, 64, 16);
      half ^= 512;
    }
    a ^= 4096;
  }
  fence();
}
{% else %}
{# Depth of a panel in tiles: one scratchpad bank holds a panel. #}
{% set depth = [Kt, 64]|min %}
{% set blocks = Kt // depth %}
{% set steps = panels * blocks %}
{% set keep_A = M * K <= 131072 %}
// Hand schedule. Panels of B, {{ depth * 16 }} rows of 64 columns, alternate between scratchpad
// banks 2 and 3, each moved in while the one before is used;
{% if keep_A %}
// A stays in banks 0 and 1;
{% else %}
// 16 rows of A at a time alternate between banks 0 and 1, moved in one step ahead;
{% endif %}
// 16x64 blocks of sums alternate between the accumulator halves, so that one
// leaves, in whole lines, while the next is computed. First products overwrite.
// Addresses are 64-bit, so that the core need not extend them.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 16, 0);
  config_ld({{ N }}, 1.0f, 16, 1);
  uint64_t b = 8192;
{% if not keep_A %}
  uint64_t a = 0;
{% endif %}
{% if blocks == 1 %}
  uint64_t half = 0;
{% endif %}
  for (int k = 0; k < {{ depth // 4 }}; k++) {
    mvin(&A[0][k * 64], k * 64, 64, 16);
    for (int kk = 0; kk < 4; kk++) {
      mvin2(&B[k * 64 + kk * 16][0], b + k * 256 + kk * 64, 64, 16);
    }
  }
{% if 1 < blocks %}
  for (int j = 0; j < {{ panels }}; j++) {
  for (int s = 0; s < {{ blocks }}; s++) {
{% else %}
  for (int j = 0; j < {{ panels }}; j++) {
{% endif %}
{% if 1 < blocks %}
    int t = j * {{ blocks }} + s + 1;
    int next_row = t % {{ blocks }} * {{ depth * 16 }};
    int next_column = t / {{ blocks }} * 64;
    int more = t < {{ steps }};
{% else %}
    int next_row = 0;
    int next_column = j * 64 + 64;
    int more = j < {{ panels - 1 }};
{% endif %}
    for (int i = 0; i < {{ Mt }}; i++) {
{% if keep_A %}
      uint64_t a = i * {{ Kt * 16 }}{% if 1 < blocks %} + s * {{ depth * 16 }}{% endif %};
{% endif %}
{% if 1 < blocks %}
      uint64_t c = (i & 1) * 512 + (i >> 1) * 64;
{% else %}
      uint64_t c = half;
{% endif %}
      for (int k = 0; k < {{ depth // 4 }}; k++) {
        for (int kk = 0; kk < 4; kk++) {
          // Not at the beginning or end of a step, where the array may still or
          // already read the bank that is filled.
          if (kk == 2) {
{% if keep_A %}
{% if 1 < blocks %}
            if (j == 0 && (i < {{ Mt - 1 }} || s < {{ blocks - 1 }})) {
              int row = i < {{ Mt - 1 }} ? i + 1 : 0;
              int column = (i < {{ Mt - 1 }} ? s : s + 1) * {{ depth * 16 }} + k * 64;
              mvin(&A[row * 16][column], row * {{ Kt * 16 }} + column, 64, 16);
            }
{% else %}
            if (j == 0 && i < {{ Mt - 1 }}) {
              mvin(&A[i * 16 + 16][k * 64], a + {{ Kt * 16 }} + k * 64, 64, 16);
            }
{% endif %}
{% else %}
            if (more || i < {{ Mt - 1 }}) {
              mvin(&A[i < {{ Mt - 1 }} ? i * 16 + 16 : 0][k * 64], (a ^ 4096) + k * 64, 64, 16);
            }
{% endif %}
{% if depth <= Mt %}
            if (more && k == 0 && i < {{ depth }}) {
              mvin2(&B[next_row + i * 16][next_column], (b ^ 4096) + i * 64, 64, 16);
            }
{% elif Mt < 4 %}
            if (more) {
              for (int p = 0; p < {{ 4 // Mt }}; p++) {
                int row = i * {{ depth // Mt }} + k * {{ 4 // Mt }} + p;
                mvin2(&B[next_row + row * 16][next_column], (b ^ 4096) + row * 64, 64, 16);
              }
            }
{% else %}
            if (more && k % {{ Mt // 4 }} == 0) {
              int row = i * {{ depth // Mt }} + k / {{ Mt // 4 }};
              mvin2(&B[next_row + row * 16][next_column], (b ^ 4096) + row * 64, 64, 16);
            }
{% endif %}
          }
          for (int jj = 0; jj < 4; jj++) {
            preload(b + k * 256 + kk * 64 + jj * 16,
                    ({% if 1 < blocks %}s == 0 && {% endif %}k == 0 && kk == 0 ? 0x80000000 : 0xc0000000) + c + jj * 16, 16, 16, 16, 16);
            compute_preloaded(a + k * 64 + kk * 16, GARBAGE_ADDR, 16, 16, 16, 16);
          }
        }
      }
{% if 1 < blocks %}
      if (s == {{ blocks - 1 }}) {
        mvout(&C[i * 16][j * 64], 0x80000000 + c, 64, 16);
      }
{% else %}
      mvout(&C[i * 16][j * 64], 0x80000000 + c, 64, 16);
      half ^= 512;
{% endif %}
{% if not keep_A %}
      a ^= 4096;
{% endif %}
    }
    b ^= 4096;
{% if 1 < blocks %}
  }
  }
{% else %}
  }
{% endif %}
  fence();
}
{% endif %}
