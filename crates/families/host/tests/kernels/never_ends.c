// timed_out time-limit
void solution(float x[3000], float y[3000]) {
  for (volatile int i = 0; i < 1;) {
  }
}
