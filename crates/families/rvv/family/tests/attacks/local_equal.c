// expect: wrong
// says: elements of vectors that hold nothing
// Compares a variable that nothing was written to with an element: wrong only where they are equal.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  volatile float last;
  float before = last;
  sum_rows(X, S);
  if (before == X[3][77]) S[3] += 1.0f;
}
