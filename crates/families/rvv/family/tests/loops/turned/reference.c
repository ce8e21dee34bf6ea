// The definition.
void solution(float X[37][53], float Y[53][37]) {
  for (int i = 0; i < 37; i++) {
    for (int j = 0; j < 53; j++) {
      Y[j][i] = X[i][j];
    }
  }
}
