// parts: vectors
// X int8 1536 input
// Y int8 512 output
void solution(int8_t X[1536], int8_t Y[512]) {
  const int8_t *p = X;
  int8_t *q = Y;
  for (int i = 0; i < 512; i++, p += 3, ++q) {
    int r = p[0], g = p[1], b = p[2];
    *q = (r + 2 * g + b) >> 2;
  }
}
