// parts: vectors
// X float32 100 input
// Y int32 100 output
typedef union {
  float f;
  int32_t u;
} number_t;
static inline int32_t rounded(float x) {
  number_t u = {.f = x};
  u.u += 0x7fff + ((u.u >> 16) & 1);
  return u.u >> 16;
}
void solution(float X[100], int32_t Y[100]) {
  for (int i = 0; i < 100; i++) {
    union { float f; int32_t i; } v = {X[i]};
    Y[i] = rounded(X[i]) + (v.i & 15);
  }
}
