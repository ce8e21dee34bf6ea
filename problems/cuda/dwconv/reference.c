// The definition, in binary64.
void solution(float X[{{ C }}][{{ H }}][{{ W }}], float K[{{ C }}][3][3], float Y[{{ C }}][{{ H - 2 }}][{{ W - 2 }}]) {
  for (int c = 0; c < {{ C }}; c++) {
    for (int i = 0; i < {{ H - 2 }}; i++) {
      for (int j = 0; j < {{ W - 2 }}; j++) {
        double sum = 0;
        for (int u = 0; u < 3; u++) {
          for (int v = 0; v < 3; v++) {
            sum += (double)X[c][i + u][j + v] * K[c][u][v];
          }
        }
        Y[c][i][j] = (float)sum;
      }
    }
  }
}
