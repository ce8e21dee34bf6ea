// parts: vectors, vectors
// x int8 7,300 input
// best int32 7 output
// most int32 7 output
void solution(int8_t x[7][300], int32_t best[7], int32_t most[7]) {
  for (int i = 0; i < 7; i++) {
    int32_t at = -1, top = -128;
    for (int j = 0; j < 300; j++) {
      int32_t value = x[i][j];
      if (top <= value) {
        at = j + 1;
        top = value;
      }
    }
    best[i] = at;
    most[i] = top;
  }
}
