// The plain loops, and the compiler is told that sums may be made in any order, so that it gathers and
// adds vectors.
void solution(float V[restrict {{ M }}][{{ K }}], uint32_t I[restrict {{ M }}][{{ K }}], float X[restrict {{ N }}], float Y[restrict {{ M }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ M }}; i++) {
    float sum = 0.0f;
    for (int k = 0; k < {{ K }}; k++) {
      sum += V[i][k] * X[I[i][k]];
    }
    Y[i] = sum;
  }
}
