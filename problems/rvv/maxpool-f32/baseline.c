// As one writes it down.
void solution(float X[{{ M }}][{{ N }}], float Y[{{ M // 2 }}][{{ N // 2 }}]) {
  for (int i = 0; i < {{ M // 2 }}; i++) {
    for (int j = 0; j < {{ N // 2 }}; j++) {
      float top = X[2 * i][2 * j];
      for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
          float x = X[2 * i + a][2 * j + b];
          top = x > top ? x : top;
        }
      }
      Y[i][j] = top;
    }
  }
}
