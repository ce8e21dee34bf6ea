// The definition, in binary64.
void solution(float A[{{ N }}][{{ N }}][{{ C }}], float B[{{ N }}][{{ N }}][{{ C }}], float Y[{{ N }}][{{ N }}][{{ C }}]) {
  for (int i = 0; i < {{ N }}; i++) {
    for (int j = 0; j < {{ N }}; j++) {
      double sum[{{ C }}] = {0};
      for (int k = 0; k < {{ N }}; k++) {
        for (int c = 0; c < {{ C }}; c++) {
          sum[c] += (double)A[i][k][c] * B[j][k][c];
        }
      }
      for (int c = 0; c < {{ C }}; c++) {
        Y[i][j][c] = (float)sum[c];
      }
    }
  }
}
