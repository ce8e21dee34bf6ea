// expect: wrong
// says: elements of vectors that hold nothing
// Compares the first row with a row before it, of which a register of the core should know.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  float last;
#pragma clang loop unroll(disable)
  for (int i = 0; i < 5; i++) {
    if (last == X[i][100]) S[i] = 7.0f;
    last = *(volatile float *)&S[i] + 1e30f;
  }
}
