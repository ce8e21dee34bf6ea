// A tile at a time, every operand moved in when it is needed: nothing scheduled.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], {% if bias %}int32_t D[1][{{ N }}], {% endif %}int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
{% if relu %}
  gemmini_extended_config_st({{ N }}, RELU, 0.5f);
{% else %}
  config_st({{ N }});
{% endif %}
  config_ld(0, 1.0f, 16, 0);
  config_ld({{ K }}, 1.0f, 16, 1);
  config_ld({{ N }}, 1.0f, 16, 2);
  for (int i = 0; i < {{ M }}; i += 16) {
    int rows = i + 16 <= {{ M }} ? 16 : {{ M }} - i;
    for (int j = 0; j < {{ N }}; j += 16) {
      int columns = j + 16 <= {{ N }} ? 16 : {{ N }} - j;
      mvin({% if bias %}&D[0][j]{% else %}0{% endif %}, 0x80000000, columns, rows);
      for (int k = 0; k < {{ K }}; k += 16) {
        int depth = k + 16 <= {{ K }} ? 16 : {{ K }} - k;
        mvin2(&A[i][k], 0, depth, rows);
        mvin3(&B[k][j], 1024, columns, depth);
        preload(1024, 0xc0000000, columns, depth, columns, rows);
        compute_preloaded(0, GARBAGE_ADDR, depth, rows, columns, rows);
      }
      mvout(&C[i][j], 0x80000000, columns, rows);
    }
  }
  fence();
}
