// expect: wrong
// says: elements of vectors that hold nothing
// Compares what stands behind the greatest element, where a reduction has put that, with an element.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  vfloat32m4_t v = __riscv_vle32_v_f32m4(X[0], 16);
  vfloat32m1_t least = __riscv_vfmv_s_f_f32m1(-1e30f, 1);
  vfloat32m1_t most = __riscv_vfredmax_vs_f32m4_f32m1(v, least, 16);
  float behind = __riscv_vfmv_f_s_f32m1_f32(__riscv_vslidedown_vx_f32m1(most, 2, 4));
  sum_rows(X, S);
  if (behind == X[2][45]) S[0] += 1.0f;
}
