// expect: wrong
// Segments that are stored closer than they are long: which of the fields that meet stays is not said.
static inline void sum_plain(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) { float s = 0; for (int j = 0; j < 333; j++) s += X[i][j]; S[i] = s; }
}
void solution(float X[5][333], float S[5]) {
  float t[8];
  sum_plain(X, t);
  vfloat32m1_t a = __riscv_vfmv_v_f_f32m1(0, 4);
  vfloat32m1_t b = __riscv_vle32_v_f32m1(t, 4);
  static float o[64];
  static float *volatile p = o;
  __riscv_vssseg2e32_v_f32m1x2(p, 4, __riscv_vcreate_v_f32m1x2(b, a), 4);
  for (int i = 0; i < 4; i++) S[i] = p[i];
  S[4] = t[4];
}
