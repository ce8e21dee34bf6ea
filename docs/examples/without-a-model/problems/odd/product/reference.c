// The definition: sums in 32 bits, clamped to 8.
void solution(int8_t A[{{ M }}][{{ K }}], int8_t B[{{ K }}][{{ N }}], {% if bias %}int32_t D[1][{{ N }}], {% endif %}int8_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      int32_t sum = {% if bias %}D[0][j]{% else %}0{% endif %};
      for (int k = 0; k < {{ K }}; k++) {
        sum += A[i][k] * B[k][j];
      }
{% if relu %}
      sum = sum < 0 ? 0 : sum;
      // Half, halves to the even neighbour.
      sum = (sum >> 1) + ((sum & 1) & (sum >> 1));
{% endif %}
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
  }
}
