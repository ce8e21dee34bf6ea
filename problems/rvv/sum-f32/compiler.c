// The plain loop, and the compiler is told that sums may be made in any order, so that it uses vectors.
void solution(float X[restrict {{ M }}][{{ N }}], float S[restrict {{ M }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ M }}; i++) {
    float sum = 0.0f;
    for (int j = 0; j < {{ N }}; j++) {
      sum += X[i][j];
    }
    S[i] = sum;
  }
}
