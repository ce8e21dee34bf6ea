// The definition, step by step.
void solution(float Bdyn[12][4], float Quu_inv[4][4], float Kinf[4][12], float AmBKt[12][12], float p[{{ H + 1 }}][12][1], float d[{{ H + 1 }}][4][1], float r[{{ H }}][4][1], float q[{{ H }}][12][1]) {
  for (int i = {{ H - 2 }}; i >= 0; i--) {
    float sums[4];
    for (int c = 0; c < 4; c++) {
      sums[c] = 0;
      for (int k = 0; k < 12; k++) {
        sums[c] += Bdyn[k][c] * p[i + 1][k][0];
      }
      sums[c] += r[i][c][0];
    }
    for (int c = 0; c < 4; c++) {
      float sum = 0;
      for (int k = 0; k < 4; k++) {
        sum += Quu_inv[k][c] * sums[k];
      }
      d[i][c][0] = sum;
    }
    for (int n = 0; n < 12; n++) {
      float sum = 0;
      for (int k = 0; k < 12; k++) {
        sum += AmBKt[n][k] * p[i + 1][k][0];
      }
      float gain = 0;
      for (int k = 0; k < 4; k++) {
        gain += Kinf[k][n] * r[i][k][0];
      }
      p[i][n][0] = q[i][n][0] + sum - gain;
    }
  }
}
