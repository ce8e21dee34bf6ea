// ok
// Remembers inputs and answers: right, and of no use, because in one process no
// inputs of timed calls come twice.
static float seen[3000], answer[3000];
static int known;
void solution(float x[3000], float y[3000]) {
  if (!known || memcmp(seen, x, sizeof seen) != 0) {
    float sum = 0.0f;
    for (int i = 0; i < 3000; i++) {
      sum += x[i];
      answer[i] = sum;
    }
    memcpy(seen, x, sizeof seen);
    known = 1;
  }
  memcpy(y, answer, sizeof answer);
}
