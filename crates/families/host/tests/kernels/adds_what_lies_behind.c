// illegal out-of-bounds-read
// Seven elements behind the end are summed up, too: within the line of the last one.
void solution(float x[3000], float y[3000]) {
  volatile float *in = x;
  float sum = 0.0f, behind = 0.0f;
  for (int i = 0; i < 3000; i++) {
    sum += x[i];
    y[i] = sum;
  }
  for (int i = 3000; i < 3007; i++) {
    behind += in[i];
  }
  y[2999] += behind;
}
