// parts: vectors
// X int32 999 input
// Y int32 999 output
// Z int32 400 output
void solution(int32_t X[999], int32_t Y[999], int32_t Z[400]) {
  int32_t *d = Y + 999;
  const int32_t *s = X;
  for (int i = 998; i >= 0; i--) *--d = *s++ * 3 + i;
  int32_t *z = Z;
  s = X + 100;
  for (int i = 0; i < 800; i += 2) {
    int32_t x = *s--;
    s += 2;
    *(z++) = x - s[0] + i;
  }
}
