// The definition.
void solution(elem_t A[{{ M }}][{{ K }}], elem_t B[{{ K }}][{{ N }}], acc_t D[{{ M }}][{{ N }}], elem_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      acc_t sum = D[i][j];
      for (int k = 0; k < {{ K }}; k++) {
        sum += A[i][k] * B[k][j];
      }
      C[i][j] = {% if element == "int8" %}sum > 127 ? 127 : sum < -128 ? -128 : {% endif %}sum;
    }
  }
}
