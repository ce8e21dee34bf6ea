// expect: illegal
// Needs more stack than there is.
static float deeper(float *p, int n) {
  volatile float room[2048];
  room[n % 2048] = p[n % 5];
  return n == 0 ? room[0] : room[0] + deeper((float *)room, n - 1);
}
void solution(float X[5][333], float S[5]) {
  S[0] = deeper(S, 1000);
}
