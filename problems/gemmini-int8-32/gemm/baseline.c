// One 32x64 block of C at a time, every operand moved in when it is needed:
// what a compiler emits that tiles for the array and schedules nothing.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld(0, 1.0f, 32, 0);
  config_ld({{ K }}, 1.0f, 32, 1);
  config_ld({{ N }}, 1.0f, 32, 2);
  for (int i = 0; i < {{ (M + 31) // 32 }}; i++) {
{% if M % 32 %}
    int rows = i < {{ M // 32 }} ? 32 : {{ M % 32 }};
{% else %}
    const int rows = 32;
{% endif %}
    for (int j = 0; j < {{ N // 64 }}; j++) {
      for (int jj = 0; jj < 2; jj++) {
        mvin(0, 0x80000000 + jj * 32, 32, rows);
      }
      for (int ko = 0; ko < {{ K // 64 }}; ko++) {
        mvin2(&A[i * 32][ko * 64], 0, 64, rows);
        for (int k = 0; k < 2; k++) {
          mvin3(&B[ko * 64 + k * 32][j * 64], 1024 + k * 64, 64, 32);
        }
        for (int k = 0; k < 2; k++) {
          for (int jj = 0; jj < 2; jj++) {
            preload(1024 + k * 64 + jj * 32, 0xc0000000 + jj * 32, 32, 32, 32, rows);
            compute_preloaded(k * 32, 0xffffffff, 32, rows, 32, 32);
          }
        }
      }
      for (int jj = 0; jj < 2; jj++) {
        mvout(&C[i * 32][j * 64 + jj * 32], 0x80000000 + jj * 32, 32, rows);
      }
    }
  }
  fence();
}
