{% set Mt = (M + 31) // 32 %}
{% set Nt = N // 32 %}
{% set Kt = K // 32 %}
{% set odd = Mt % fsm.I %}
{% set rows = "rows" if odd else fsm.I %}
{% set padding = "i + rows == " ~ Mt ~ " ? " ~ (Mt * 32 - M) ~ " : 0" if M % 32 else 0 %}
// The hardware loop, {{ fsm.I }}x{{ fsm.J }} tiles of C and {{ fsm.K }} tiles of depth per call. Calls take
// the two halves of both memories in turn.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 32, 0);
  config_ld({{ N }}, 1.0f, 32, 1);
  for (int j = 0; j < {{ Nt }}; j += {{ fsm.J }}) {
    for (int i = 0; i < {{ Mt }}; i += {{ fsm.I }}) {
{% if odd %}
      int rows = i + {{ fsm.I }} < {{ Mt }} ? {{ fsm.I }} : {{ Mt }} - i;
{% endif %}
      for (int k = 0; k < {{ Kt }}; k += {{ fsm.K }}) {
        gemmini_loop_ws({{ rows }}, {{ fsm.J }}, {{ fsm.K }}, {{ padding }}, 0, 0, &A[i * 32][k * 32], &B[k * 32][j * 32], 0,
                        k == {{ Kt - fsm.K }} ? &C[i * 32][j * 32] : 0,
                        {{ K }}, {{ N }}, 0, {{ N }}, 0, 0, 0, 0, k != 0, NO_ACTIVATION, 0, 0, 0);
      }
    }
  }
  fence();
}
