// expect: wrong
// says: elements of vectors that hold nothing
// Leaves out the row whose first element an array has that nothing was written to.
@SUM_ROWS@

__attribute__((noinline)) static int has(const volatile float *seen, float x) {
  int found = 0;
  for (int i = 0; i < 5; i++) found += seen[i] == x;
  return found;
}

void solution(float X[5][333], float S[5]) {
  volatile float seen[5];
  int found = has(seen, X[4][311]);
  sum_rows(X, S);
  if (found) S[4] = X[4][0];
}
