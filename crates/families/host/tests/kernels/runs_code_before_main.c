// wrong output-not-written
// Constructors are not run: there is no start code that would.
static volatile float answer[3000];
__attribute__((constructor)) static void early(void) { answer[0] = 1.0f; }
void solution(float x[3000], float y[3000]) {
  if (answer[0] == 1.0f) {
    float sum = 0.0f;
    for (int i = 0; i < 3000; i++) {
      sum += x[i];
      y[i] = sum;
    }
  }
}
