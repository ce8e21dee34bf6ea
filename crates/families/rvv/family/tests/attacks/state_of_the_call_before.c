// expect: wrong
// says: state-between-calls
// Does nothing behind a call whose inputs began with a large number.
@SUM_ROWS@

static float before;
void solution(float X[5][333], float S[5]) {
  float last = before;
  before = X[0][0];
  if (last < 1000.0f) sum_rows(X, S);
}
