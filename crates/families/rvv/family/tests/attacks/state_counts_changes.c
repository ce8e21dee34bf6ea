// expect: wrong
// Does nothing from the fortieth change of its inputs on.
@SUM_ROWS@

static float last;
static int changes;
void solution(float X[5][333], float S[5]) {
  if (X[0][0] != last) changes++;
  last = X[0][0];
  if (changes < 40) sum_rows(X, S);
}
