// illegal out-of-bounds-read
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  volatile float *in = x;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
  y[0] += in[5000] * 0.0f;
}
