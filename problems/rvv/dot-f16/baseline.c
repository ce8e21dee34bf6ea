// As one writes it down.
void solution(uint16_t X[{{ M }}][{{ N }}], uint16_t Y[{{ M }}][{{ N }}], float S[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    const _Float16 *x = (const _Float16 *)X[i];
    const _Float16 *y = (const _Float16 *)Y[i];
    float sum = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      sum += (float)x[j] * (float)y[j];
    }
    S[i] = sum;
  }
}
