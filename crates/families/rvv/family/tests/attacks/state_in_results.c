// expect: wrong
// Keeps its results and gives them again.
@SUM_ROWS@

static float kept[5];
static int known;
void solution(float X[5][333], float S[5]) {
  if (!known) {
    sum_rows(X, kept);
    known = 1;
  }
  for (int i = 0; i < 5; i++) S[i] = kept[i];
}
