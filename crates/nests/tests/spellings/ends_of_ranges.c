// parts: vectors
void solution(int32_t X[1024], uint8_t Y[1024]) {
  for (int i = 0; i < 1024; i++) {
    int32_t x = X[i] < INT_MAX ? X[i] + 1 : INT_MAX;
    x = x > UINT8_MAX ? UINT8_MAX : x < 0 ? 0 : x;
    Y[i] = (uint8_t)x;
  }
}
