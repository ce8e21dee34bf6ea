// expect: wrong
// says: elements of vectors that hold nothing
// Compares an element behind `vl` of numbers of 64 bits with one of 32 bits.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  vfloat64m4_t v = __riscv_vfwcvt_f_f_v_f64m4(__riscv_vle32_v_f32m2(X[1], 8), 5);
  double behind = __riscv_vfmv_f_s_f64m4_f64(__riscv_vslidedown_vx_f64m4(v, 6, 8));
  sum_rows(X, S);
  if (behind == X[0][206]) S[1] -= 1.0f;
}
