// is: product 40x24x56, with ReLU
// Pointers that walk, and loops that count down.
void solution(int8_t *A, int8_t *B, int8_t *C) {
  int8_t *out = C;
  int8_t *row = A;
  int i = 40;
  while (i--) {
    for (int j = 0; j < 24; j++) {
      const int8_t *x = row;
      const int8_t *w = B + j;
      int sum = 0;
      for (int k = 56; k > 0; --k) {
        sum += *x++ * *w;
        w += 24;
      }
      if (sum < 0) sum = 0;
      *out++ = sum > 127 ? 127 : sum;
    }
    row += 56;
  }
}
