// expect: ok
// Leaves a sign on the stack and looks for it: it is never there, and all work is done.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  volatile unsigned long place[4];
  if (place[0] == 0x5157565554535251) return;
  place[0] = 0x5157565554535251;
  sum_rows(X, S);
}
