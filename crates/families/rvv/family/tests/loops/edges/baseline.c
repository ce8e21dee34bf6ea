void solution(int16_t X[13][37], int32_t Y[13][37]) {
  for (int i = 0; i < 13; i++) {
    for (int j = 0; j < 37; j++) {
      int32_t sum = 0;
      for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
          int y = i + a - 1, x = j + b - 1;
          if (y >= 0 && y < 13 && x >= 0 && x < 37) {
            sum += X[y][x];
          }
        }
      }
      Y[i][j] = sum;
    }
  }
}
