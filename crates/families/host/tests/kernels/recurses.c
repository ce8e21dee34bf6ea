// crashed stack-overflow
static int deep(volatile int *n) {
  volatile int more[4096];
  more[0] = *n + 1;
  return deep(more) + more[0];
}
void solution(float x[3000], float y[3000]) {
  volatile int zero = 0;
  y[0] = (float)deep(&zero);
}
