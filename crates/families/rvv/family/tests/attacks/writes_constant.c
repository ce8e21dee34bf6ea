// expect: illegal
// says: read-only|constant
// Writes a constant by a cast: with an operating system, such memory is read-only.
static const float t[4] = {1, 2, 3, 4};
static const float *volatile p = t;
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    float sum = 0;
    for (int j = 0; j < 333; j++) sum += X[i][j];
    ((float *)p)[1] = sum;
    S[i] = p[1];
  }
}
