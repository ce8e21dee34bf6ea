{% set Mt = M // 16 %}
{% set Nt = N // 16 %}
{% set Kt = K // 16 %}
{% set odd = Mt % fsm.I %}
{% set rows = "rows" if odd else fsm.I %}
{% set slices = Kt // fsm.K %}
{% set bands = (Mt + fsm.I - 1) // fsm.I %}
{% set panels = Nt // fsm.J %}
{% set by_rows = fsm.outer == "rows" %}
{# What stays has a half of the scratchpad for each of its blocks: one or two in all, or one
   that the inner loop takes again, while the next one comes into the other half. #}
{% set keep_a = "A" in fsm.keep %}
{% set keep_b = "B" in fsm.keep %}
{# The half that a block takes; 0 leaves it to the hardware. #}
{% set half_k = "1 + (k != 0)" %}
{% set half_a = 0 if not keep_a else half_k if slices == 2 else 1 if bands == 1 else "1 + (i & 1)" if fsm.I == 1 else "1 + (i / " ~ fsm.I ~ " & 1)" %}
{% set half_b = 0 if not keep_b else half_k if slices == 2 else 1 if panels == 1 else "1 + (j / " ~ fsm.J ~ " & 1)" %}
{% set a = ("j != 0 ? 0 : " if keep_a) ~ "&A[i * 16][" ~ ("0" if slices == 1 else "k * 16") ~ "]" %}
{% set b = ("i != 0 ? 0 : " if keep_b) ~ "&B[" ~ ("0" if slices == 1 else "k * 16") ~ "][j * 16]" %}
{% macro stays(name, all, index) -%}
// {{ name ~ " stays in the scratchpad" if all else "A block of " ~ name ~ " stays while the inner loop takes it" }}: it comes in with {{ index }} == 0.
{%- endmacro %}
{% macro over_rows() %}for (int i = 0; i < {{ Mt }}; i += {{ fsm.I }}) {% endmacro %}
{% macro over_columns() %}for (int j = 0; j < {{ Nt }}; j += {{ fsm.J }}) {% endmacro %}
// The hardware loop, {{ fsm.I }}x{{ fsm.J }} tiles of C and {{ fsm.K }} tiles of depth per call. Calls take
// the two halves of both memories in turn.
{% if keep_a %}
{{ stays("A", bands * slices <= 2, "j") }}
{% endif %}
{% if keep_b %}
{{ stays("B", panels * slices <= 2, "i") }}
{% endif %}
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ N }});
  config_ld({{ K }}, 1.0f, 16, 0);
  config_ld({{ N }}, 1.0f, 16, 1);
  {{ over_rows() if by_rows else over_columns() }}{
    {{ over_columns() if by_rows else over_rows() }}{
{% if odd %}
      int rows = i + {{ fsm.I }} < {{ Mt }} ? {{ fsm.I }} : {{ Mt }} - i;
{% endif %}
{% if slices == 1 %}
      gemmini_loop_ws({{ rows }}, {{ fsm.J }}, {{ fsm.K }}, 0, 0, 0, {{ a }}, {{ b }}, 0, &C[i * 16][j * 16],
                      {{ K }}, {{ N }}, 0, {{ N }}, 0, 0, 0, 0, 0, NO_ACTIVATION, {{ half_a }}, {{ half_b }}, 0);
{% else %}
      for (int k = 0; k < {{ Kt }}; k += {{ fsm.K }}) {
        gemmini_loop_ws({{ rows }}, {{ fsm.J }}, {{ fsm.K }}, 0, 0, 0, {{ a }}, {{ b }}, 0,
                        k == {{ Kt - fsm.K }} ? &C[i * 16][j * 16] : 0,
                        {{ K }}, {{ N }}, 0, {{ N }}, 0, 0, 0, 0, k != 0, NO_ACTIVATION, {{ half_a }}, {{ half_b }}, 0);
      }
{% endif %}
    }
  }
  fence();
}
