// expect: wrong
// Does nothing if its inputs are not those of its first call.
@SUM_ROWS@

static float first;
void solution(float X[5][333], float S[5]) {
  if (first == 0.0f) first = X[0][0];
  if (first == X[0][0]) sum_rows(X, S);
}
