// The first half of a row is paired with the second.
void solution(float X[{{ S }}][{{ D }}], float C[{{ S }}][{{ D // 2 }}], float T[{{ S }}][{{ D // 2 }}], float Y[{{ S }}][{{ D }}]) {
  for (int i = 0; i < {{ S }}; i++) {
    for (int j = 0; j < {{ D // 2 }}; j++) {
      double a = X[i][j], b = X[i][j + {{ D // 2 }}];
      Y[i][j] = (float)(a * C[i][j] - b * T[i][j]);
      Y[i][j + {{ D // 2 }}] = (float)(b * C[i][j] + a * T[i][j]);
    }
  }
}
