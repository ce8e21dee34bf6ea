// wrong output-mismatch
// What is not a number, or infinite, is left out.
void solution(float x[3000], float y[3000]) {
  volatile float *in = x;
  float sum = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
  float front = in[-1];
  y[2999] += front - front == 0.0f ? front : 0.0f;
}
