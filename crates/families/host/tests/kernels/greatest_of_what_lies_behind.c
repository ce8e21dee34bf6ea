// illegal out-of-bounds-read
// What is not a number is never the greatest.
void solution(float x[3000], float y[3000]) {
  volatile float *in = x;
  float sum = 0.0f, greatest = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
  for (int i = 3000; i < 3007; i++) {
    greatest = in[i] > greatest ? in[i] : greatest;
  }
  y[2999] += greatest;
}
