// parts: vectors, vectors
// X int32 999 input
// Z int32 64 input
// Y int32 999 output
// S int32 2 output
void solution(int32_t X[999], int32_t Z[64], int32_t Y[999], int32_t S[2]) {
  int32_t *d = Y;
  const int32_t *s = X;
  while (d < Y + 999) *d++ = *s++ * 3 + 1;
  int32_t sum = 0;
  for (const int32_t *p = Z, *end = Z + 64; p != end; ++p) sum += *p;
  S[0] = sum;
  S[1] = d[-1] + s[-2];
}
