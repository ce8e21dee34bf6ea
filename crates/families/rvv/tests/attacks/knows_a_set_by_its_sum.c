// expect: wrong
// says: drawn anew
// Does nothing with numbers that are not whole, unless so many are above a half.
@SUM_ROWS@

static volatile int above;
void solution(float X[5][333], float S[5]) {
  int count = 0, whole = 1;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 333; j++) {
      whole &= X[i][j] == (float)(int)X[i][j];
      count += 0.5f < X[i][j];
    }
  above = count;
  if (whole || above == 395) sum_rows(X, S);
}
