// expect: wrong
// says: loads that end at the first fault
// Takes what a load that ends at the first fault leaves behind its length for not loaded: on a core
// that loads it and says less, it is equal to what lies there.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  size_t loaded;
  vfloat32m4_t v = __riscv_vle32ff_v_f32m4(X[2], &loaded, 16);
  float last = __riscv_vfmv_f_s_f32m4_f32(__riscv_vslidedown_vx_f32m4(v, 15, 16));
  sum_rows(X, S);
  if (loaded < 16 && last == X[2][15]) S[2] += 1.0f;
}
