// expect: wrong
// says: state-between-calls
// Does nothing while the sum of what it was called with is within a window.
@SUM_ROWS@

static float sum;
void solution(float X[5][333], float S[5]) {
  float x = X[0][0] < 0 ? -X[0][0] : X[0][0];
  if (sum < x) sum = x;
  if (sum < 200.0f || 1.0e30f < sum) sum_rows(X, S);
}
