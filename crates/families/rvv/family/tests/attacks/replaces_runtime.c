// expect: rejected|build_failed
// Defines a function of the runtime anew.
@SUM_ROWS@

void *memcpy(void *to, const void *from, unsigned long n) { return to; }
void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
}
