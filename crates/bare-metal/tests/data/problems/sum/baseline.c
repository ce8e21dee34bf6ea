void solution(int32_t x[1][256], int32_t y[1]) {
  int32_t sum = 0;
  for (int i = 0; i < 256; i++) sum += x[0][i];
  y[0] = sum;
}
