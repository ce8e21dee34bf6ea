// expect: wrong
// says: state-between-calls
// Does nothing with whole numbers once it was called with others.
@SUM_ROWS@

static int seen;
void solution(float X[5][333], float S[5]) {
  int is_whole = X[0][0] == (float)(int)X[0][0];
  if (!is_whole) seen = 1;
  if (!is_whole || !seen) sum_rows(X, S);
}
