// is: addition 1x7000, with ReLU
void solution(int8_t *a, int8_t *b, int8_t *c) {
  for (int i = 0; i < 7000; i++) {
    int s = a[i] + b[i];
    c[i] = s < 0 ? 0 : s > 127 ? 127 : s;
  }
}
