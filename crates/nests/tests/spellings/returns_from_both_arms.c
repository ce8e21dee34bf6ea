// parts: vectors
// X int32 100 input
// Y int32 100 output
static inline int clip(int a) {
  if (a & ~0x3F) return (~a) >> 31;
  else return a;
}
void solution(int32_t X[100], int32_t Y[100]) {
  for (int i = 0; i < (103 & ~3); i++) Y[i] = clip(X[i]);
}
