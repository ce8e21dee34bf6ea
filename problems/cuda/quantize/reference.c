// The definition. Scales are powers of two, so that every step is exact.
void solution(float X[{{ M }}][{{ N }}], int8_t Q[{{ M }}][{{ N }}], float S[{{ M }}]) {
  for (int i = 0; i < {{ M }}; i++) {
    float top = 0;
    for (int j = 0; j < {{ N }}; j++) {
      float size = X[i][j] < 0 ? -X[i][j] : X[i][j];
      top = top < size ? size : top;
    }
    float scale = 1;
    while (127 * scale < top) {
      scale *= 2;
    }
    while (top <= 127 * (scale / 2) && 1e-30f < scale) {
      scale /= 2;
    }
    S[i] = scale;
    for (int j = 0; j < {{ N }}; j++) {
      float value = X[i][j] / scale;
      int whole = (int)value;
      float rest = value - whole;
      // To the nearest, to even ones between two.
      whole += 0.5f < rest || (rest == 0.5f && whole % 2) ? 1 : 0;
      whole -= rest < -0.5f || (rest == -0.5f && whole % 2) ? 1 : 0;
      Q[i][j] = (int8_t)whole;
    }
  }
}
