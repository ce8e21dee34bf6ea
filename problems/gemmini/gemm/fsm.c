{% set Mt = M // 16 %}
{% set Nt = N // 16 %}
{% set Kt = K // 16 %}
{% set odd = Mt % fsm.I %}
// The hardware loop, {{ fsm.I }}x{{ fsm.J }} tiles of C and {{ fsm.K }} tiles of depth per call. Calls take
// the two halves of both memories in turn.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 16, 0);
  config_ld({{ N }}, 1.0f, 16, 1);
  for (int j = 0; j < {{ Nt }}; j += {{ fsm.J }}) {
    for (int i = 0; i < {{ Mt }}; i += {{ fsm.I }}) {
{% if odd %}
      int rows = i + {{ fsm.I }} < {{ Mt }} ? {{ fsm.I }} : {{ Mt }} - i;
{% endif %}
{% set rows = "rows" if odd else fsm.I %}
{% if fsm.K == Kt %}
      gemmini_loop_ws({{ rows }}, {{ fsm.J }}, {{ fsm.K }}, 0, 0, 0, &A[i * 16][0], &B[0][j * 16], 0, &C[i * 16][j * 16],
                      {{ K }}, {{ N }}, 0, {{ N }}, 0, 0, 0, 0, 0, NO_ACTIVATION, 0, 0, 0);
{% else %}
      for (int k = 0; k < {{ Kt }}; k += {{ fsm.K }}) {
        gemmini_loop_ws({{ rows }}, {{ fsm.J }}, {{ fsm.K }}, 0, 0, 0, &A[i * 16][k * 16], &B[k * 16][j * 16], 0,
                        k == {{ Kt - fsm.K }} ? &C[i * 16][j * 16] : 0,
                        {{ K }}, {{ N }}, 0, {{ N }}, 0, 0, 0, 0, k != 0, NO_ACTIVATION, 0, 0, 0);
      }
{% endif %}
    }
  }
  fence();
}
