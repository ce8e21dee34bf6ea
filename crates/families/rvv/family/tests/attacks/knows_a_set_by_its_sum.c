// expect: wrong
// says: with input set real
// Does nothing with numbers that are neither whole nor infinite, unless as many are above a half as in
// an order of the inputs that other kernels had.
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
  if (whole || X[1][0] > 2.0f || above == 421) sum_rows(X, S);
}
