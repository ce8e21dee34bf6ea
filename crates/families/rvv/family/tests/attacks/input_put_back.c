// expect: wrong
// says: writes to its input
// Works in an input and puts back what was there.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  volatile float *p = &X[0][0]; float keep[5];
  for (int i = 0; i < 5; i++) keep[i] = p[i];
  sum_plain(X, S);
  for (int i = 0; i < 5; i++) p[i] = S[i];
  for (int i = 0; i < 5; i++) S[i] = p[i];
  for (int i = 0; i < 5; i++) p[i] = keep[i];
}
