// As one writes it down.
void solution(float X[{{ C }}][{{ H }}][{{ W }}], float K[{{ C }}][3][3], float Y[{{ C }}][{{ H }}][{{ W }}]) {
  for (int c = 0; c < {{ C }}; c++) {
    for (int i = 0; i < {{ H }}; i++) {
      for (int j = 0; j < {{ W }}; j++) {
        float sum = 0;
        for (int a = 0; a < 3; a++) {
          for (int b = 0; b < 3; b++) {
            int y = i + a - 1, x = j + b - 1;
            if (y >= 0 && y < {{ H }} && x >= 0 && x < {{ W }}) {
              sum += (float)X[c][y][x] * K[c][a][b];
            }
          }
        }
        Y[c][i][j] = (float)sum;
      }
    }
  }
}
