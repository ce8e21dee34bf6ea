// expect: wrong
// says: state-between-calls
// Keeps the sums, and gives them again for inputs that begin alike.
@SUM_ROWS@

static float kept[5], begins;
static int has;

void solution(float X[5][333], float S[5]) {
  if (has && begins == X[0][0]) {
    for (int i = 0; i < 5; i++) S[i] = kept[i];
    return;
  }
  sum_rows(X, S);
  for (int i = 0; i < 5; i++) kept[i] = S[i];
  begins = X[0][0];
  has = 1;
}
