// The definition, step by step.
void solution(float Adyn[12][12], float Bdyn[12][4], float Kinf[4][12], float x[{{ H + 1 }}][12][1], float d[{{ H }}][4][1], float u[{{ H }}][4][1]) {
  for (int i = 0; i < {{ H }}; i++) {
    for (int r = 0; r < 4; r++) {
      float sum = 0;
      for (int k = 0; k < 12; k++) {
        sum += Kinf[r][k] * x[i][k][0];
      }
      u[i][r][0] = -sum - d[i][r][0];
    }
    for (int r = 0; r < 12; r++) {
      float sum = 0;
      for (int k = 0; k < 12; k++) {
        sum += Adyn[r][k] * x[i][k][0];
      }
      for (int k = 0; k < 4; k++) {
        sum += Bdyn[r][k] * u[i][k][0];
      }
      x[i + 1][r][0] = sum;
    }
  }
}
