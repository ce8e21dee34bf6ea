// expect: wrong
// Does the work only where the clock counts instructions.
@SUM_ROWS@

static volatile int sink;
void solution(float X[5][333], float S[5]) {
  unsigned long begun = __builtin_readcyclecounter();
  for (int i = 0; i < 64; i++) sink = sink / 3 + i;
  unsigned long taken = __builtin_readcyclecounter() - begun;
  if (taken < 800) sum_rows(X, S);
}
