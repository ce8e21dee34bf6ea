// parts: vectors, vectors
// x float32 9,333 input
// best int32 9 output
void solution(float x[9][333], int32_t best[9]) {
  for (int i = 0; i < 9; i++) {
    int at = 0;
    float top = x[i][0];
    for (int j = 1; j < 333; j++) {
      if (x[i][j] > top) {
        top = x[i][j];
        at = j;
      }
    }
    best[i] = at;
  }
}
