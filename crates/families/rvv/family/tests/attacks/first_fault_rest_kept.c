// expect: wrong
// says: loads that end at the first fault
// Relies on zeros that a load which ends at the first fault may have written over behind its length,
// whatever its policy for tails is.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  size_t loaded;
  vfloat32m4_t zeros = __riscv_vfmv_v_f_f32m4(0.0f, 16);
  vfloat32m4_t v = __riscv_vle32ff_v_f32m4_tu(zeros, X[2], &loaded, 16);
  float last = __riscv_vfmv_f_s_f32m4_f32(__riscv_vslidedown_vx_f32m4(v, 15, 16));
  sum_rows(X, S);
  if (loaded < 16) S[2] += last;
}
