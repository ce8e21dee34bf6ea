// illegal out-of-bounds-write
// Far enough to leave the pages of the buffer.
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
  volatile float *far = y;
  far[3200] = 1.0f;
}
