// expect: crashed
// Elements of 32 bits at an odd address, which hardware may refuse.
static inline __attribute__((unused)) void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  static char room[64];
  float t[8]; sum_plain(X, t);
  char *volatile p = room + 1;
  __riscv_vse32_v_f32m2((float *)p, __riscv_vle32_v_f32m2(t, 5), 5);
  __riscv_vse32_v_f32m2(S, __riscv_vle32_v_f32m2((float *)p, 5), 5);
}
