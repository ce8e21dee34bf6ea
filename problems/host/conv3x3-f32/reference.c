// The definition, with sums in binary64.
void solution(float X[{{ H + 2 }}][{{ W + 2 }}][{{ C }}], float F[3][3][{{ C }}][{{ O }}], float Y[{{ H }}][{{ W }}][{{ O }}]) {
  for (int y = 0; y < {{ H }}; y++) {
    for (int x = 0; x < {{ W }}; x++) {
      double sums[{{ O }}] = {0};
      for (int v = 0; v < 3; v++) {
        for (int u = 0; u < 3; u++) {
          for (int c = 0; c < {{ C }}; c++) {
            for (int o = 0; o < {{ O }}; o++) {
              sums[o] += (double)X[y + v][x + u][c] * F[v][u][c][o];
            }
          }
        }
      }
      for (int o = 0; o < {{ O }}; o++) {
        Y[y][x][o] = (float)sums[o];
      }
    }
  }
}
