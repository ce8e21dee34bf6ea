// The four numbers of a window by name, told that the buffers are apart, so that the compiler uses
// vectors.
static inline float greater(float x, float y) {
  return x > y ? x : y;
}

void solution(float X[restrict {{ M }}][{{ N }}], float Y[restrict {{ M // 2 }}][{{ N // 2 }}]) {
  for (int i = 0; i < {{ M // 2 }}; i++) {
    for (int j = 0; j < {{ N // 2 }}; j++) {
      float upper = greater(X[2 * i][2 * j], X[2 * i][2 * j + 1]);
      float lower = greater(X[2 * i + 1][2 * j], X[2 * i + 1][2 * j + 1]);
      Y[i][j] = greater(upper, lower);
    }
  }
}
