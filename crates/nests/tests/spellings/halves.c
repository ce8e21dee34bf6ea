// parts: vectors
// X float16 3,333 input
// Y float16 999 input
// S float32 3 output
void solution(uint16_t X[3][333], uint16_t Y[999], float S[3]) {
  for (int i = 0; i < 3; i++) {
    const _Float16 *x = (const _Float16 *)X[i];
    const _Float16 *y = (const _Float16 *)(Y + 333 * i);
    float sum = 0.0f;
    for (int j = 0; j < 333; j++) {
      sum += (float)x[j] * (float)y[j];
    }
    S[i] = sum;
  }
}
