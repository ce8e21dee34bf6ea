// expect: wrong
// Does nothing from its forty-first call on.
@SUM_ROWS@

static int calls;
void solution(float X[5][333], float S[5]) {
  if (calls++ < 40) sum_rows(X, S);
}
