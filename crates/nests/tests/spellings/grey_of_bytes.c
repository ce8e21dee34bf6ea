// parts: vectors
// x int8 7,35,3 input
// y int8 7,35 output
void solution(int8_t x[7][35][3], int8_t y[7][35]) {
  for (int i = 0; i < 7; i++) {
    for (int j = 0; j < 35; j++) {
      int r = x[i][j][0];
      int g = x[i][j][1];
      int b = x[i][j][2];
      y[i][j] = (int8_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
    }
  }
}
