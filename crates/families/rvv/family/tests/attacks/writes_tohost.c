// expect: rejected|illegal|build_failed
// Ends the program by itself.
extern volatile unsigned long tohost;
void solution(float X[5][333], float S[5]) {
  tohost = 1;
  for (;;) ;
}
