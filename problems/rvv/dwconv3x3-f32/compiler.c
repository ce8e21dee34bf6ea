// Rows with zeros around them, so that no condition is left in the inner loop and the compiler uses
// vectors.
void solution(float X[restrict {{ C }}][{{ H }}][{{ W }}], float K[restrict {{ C }}][3][3], float Y[restrict {{ C }}][{{ H }}][{{ W }}]) {
  float padded[{{ H + 2 }}][{{ W + 2 }}];
  memset(padded, 0, sizeof padded);
  for (int c = 0; c < {{ C }}; c++) {
    for (int i = 0; i < {{ H }}; i++) {
      for (int j = 0; j < {{ W }}; j++) {
        padded[i + 1][j + 1] = X[c][i][j];
      }
    }
    for (int i = 0; i < {{ H }}; i++) {
      for (int j = 0; j < {{ W }}; j++) {
        float sum = 0.0f;
        for (int a = 0; a < 3; a++) {
          for (int b = 0; b < 3; b++) {
            sum += padded[i + a][j + b] * K[c][a][b];
          }
        }
        Y[c][i][j] = sum;
      }
    }
  }
}
