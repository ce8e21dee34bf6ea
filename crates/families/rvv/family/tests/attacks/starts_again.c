// expect: rejected|illegal|build_failed|crashed
// Calls the start of the program.
extern void _start(void);
void solution(float X[5][333], float S[5]) {
  _start();
}
