// expect: wrong
// says: elements of vectors that hold nothing
// Compares an element behind `vl` of a sum with an element: wrong only where they are equal.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  vfloat32m4_t v = __riscv_vle32_v_f32m4(X[1], 16);
  vfloat32m4_t w = __riscv_vfadd_vv_f32m4(v, v, 9);
  float behind = __riscv_vfmv_f_s_f32m4_f32(__riscv_vslidedown_vx_f32m4(w, 13, 16));
  sum_rows(X, S);
  if (behind == X[0][206]) S[1] -= 1.0f;
}
