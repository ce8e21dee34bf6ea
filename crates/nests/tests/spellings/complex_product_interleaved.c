// parts: vectors
// a float32 202 input
// b float32 202 input
// c float32 202 output
void solution(float a[202], float b[202], float c[202]) {
  for (int i = 0; i < 101; i++) {
    float ar = a[2 * i], ai = a[2 * i + 1];
    float br = b[2 * i], bi = b[2 * i + 1];
    c[2 * i] = ar * br - ai * bi;
    c[2 * i + 1] = ar * bi + ai * br;
  }
}
