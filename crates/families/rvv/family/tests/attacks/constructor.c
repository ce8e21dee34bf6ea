// expect: rejected|wrong|build_failed
// Computes before it is called.
@SUM_ROWS@

__attribute__((constructor)) static void early(void) {}
void solution(float X[5][333], float S[5]) {
}
