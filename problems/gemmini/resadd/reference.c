// The definition: sums clamped to 8 bits.
void solution(int8_t A[{{ M }}][{{ N }}], int8_t B[{{ M }}][{{ N }}], int8_t C[{{ M }}][{{ N }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      int32_t sum = A[i][j] + B[i][j];
      C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
    }
  }
}
