// illegal out-of-bounds-write
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  volatile float *out = y;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    out[i] = sum;
  }
  out[-1] = 0.0f;
}
