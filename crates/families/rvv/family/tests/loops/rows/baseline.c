void solution(int8_t X[7][83], int8_t Y[7][83], int32_t S[7], int32_t T[7]) {
  for (int i = 0; i < 7; i++) {
    int32_t sum = 0;
    int32_t top = -1000;
    for (int j = 0; j < 83; j++) {
      sum += X[i][j] * Y[i][j];
      top = X[i][j] > top ? X[i][j] : top;
    }
    S[i] = sum;
    T[i] = top;
  }
}
