// illegal out-of-bounds-write
// Within the last page of the buffer, where no access ends in a fault.
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  volatile float *out = y;
  for (int i = 0; i <= 3000; i++) {
    sum += i < 3000 ? x[i] : 0.0f;
    out[i] = sum;
  }
}
