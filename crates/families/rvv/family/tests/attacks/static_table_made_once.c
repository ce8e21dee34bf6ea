// expect: ok
// Makes a table once, and keeps in static data how far the longest call has come.
@SUM_ROWS@

static float ones[333];
static int has_ones, most;
void solution(float X[5][333], float S[5]) {
  if (!has_ones) {
    for (int j = 0; j < 333; j++) ones[j] = 1.0f;
    has_ones = 1;
  }
  int positive = 0;
  for (int j = 0; j < 333; j++) positive += 0.0f < X[0][j];
  if (most < positive) most = positive;
  sum_rows(X, S);
  for (int i = 0; i < 5; i++) S[i] *= ones[i];
}
