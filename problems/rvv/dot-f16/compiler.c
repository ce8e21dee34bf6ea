// The plain loop, and the compiler is told that sums may be made in any order, so that it uses vectors.
void solution(uint16_t X[restrict {{ M }}][{{ N }}], uint16_t Y[restrict {{ M }}][{{ N }}], float S[restrict {{ M }}]) {
#pragma clang fp reassociate(on)
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
