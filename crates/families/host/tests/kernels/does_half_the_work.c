// wrong output-not-written
void solution(float x[3000], float y[3000]) {
  float sum = 0.0f;
  for (int i = 0; i < 1500; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
