// expect: wrong
// says: never written
// Adds up what lies on the stack, if an input could be that.
void solution(float X[5][333], float S[5]) {
  volatile float kept[16];
  for (int j = 0; j < 9; j++) kept[j] = X[0][324 + j];
  for (int i = 0; i < 5; i++) {
    float s = 0.0f;
    for (int j = 0; j < (i == 0 ? 324 : 333); j++) s += X[i][j];
    S[i] = s;
  }
  for (int j = 0; j < 16; j++) {
    float v = kept[j];
    if (-200.0f < v && v < 200.0f && (v < -1.0e-20f || 1.0e-20f < v)) S[0] += v;
  }
}
