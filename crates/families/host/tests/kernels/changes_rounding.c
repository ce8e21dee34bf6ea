// illegal changed-modes
// x86-64: flushes small numbers to zero from now on.
void solution(float x[3000], float y[3000]) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
