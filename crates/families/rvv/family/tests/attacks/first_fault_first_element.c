// expect: illegal
// says: outside|past
// The first element of such a load lies outside.
void solution(float X[5][333], float S[5]) {
  size_t vl;
  vfloat32m1_t v = __riscv_vle32ff_v_f32m1(&X[4][333], &vl, 1);
  S[0] = __riscv_vfmv_f_s_f32m1_f32(v);
}
