// illegal input-written
void solution(float x[3000], float y[3000]) {
  for (int i = 1; i < 3000; i++) {
    x[i] += x[i - 1];
  }
  memcpy(y, x, sizeof(float[3000]));
}
