// expect: illegal
// says: state-between-calls
// Knows the inputs of its first five calls with different ones, and nothing else.
@SUM_ROWS@

static float known[5];
static int count;
void solution(float X[5][333], float S[5]) {
  int is_known = 0;
  for (int i = 0; i < count; i++) is_known |= known[i] == X[0][0];
  if (!is_known && count < 5) {
    known[count++] = X[0][0];
    is_known = 1;
  }
  if (is_known) sum_rows(X, S);
}
