// The same, with buffers that do not overlap and sums in any order, which the compiler may use.
void solution(int32_t J[restrict {{ M }}][{{ E }}], float A[restrict {{ M }}][{{ E }}], float X[restrict {{ N }}], float Y[restrict {{ M }}]) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < {{ M }}; i++) {
    float sum = 0;
    for (int e = 0; e < {{ E }}; e++) {
      sum += A[i][e] * X[J[i][e]];
    }
    Y[i] = (float)sum;
  }
}
