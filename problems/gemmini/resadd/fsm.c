// The hardware loop as an adder, {{ fsm.I }}x{{ fsm.J }} tiles per call.
void solution(int8_t A[{{ M }}][{{ N }}], int8_t B[{{ M }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 0);
  gemmini_extended3_config_ld({{ N }}, 1.0f, true, 1);
  for (int i = 0; i < {{ M // 16 }}; i += {{ fsm.I }}) {
    for (int j = 0; j < {{ N // 16 }}; j += {{ fsm.J }}) {
      gemmini_loop_ws({{ fsm.I }}, {{ fsm.J }}, 0, 0, 0, 0, &A[i * 16][j * 16], &B[i * 16][j * 16], 0, &C[i * 16][j * 16],
                      {{ N }}, {{ N }}, 0, {{ N }}, 0, 0, 0, 0, 0, NO_ACTIVATION, 0, 0, 1);
    }
  }
  fence();
}
