// expect: wrong
// says: elements of vectors that hold nothing
// Compares an element of a register that nothing was written to with one of the input.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  vfloat32m1_t nothing = __riscv_vundefined_f32m1();
  vfloat32m1_t v = __riscv_vfmv_s_f_f32m1_tu(nothing, 1.0f, 1);
  float behind = __riscv_vfmv_f_s_f32m1_f32(__riscv_vslidedown_vx_f32m1(v, 3, 4));
  sum_rows(X, S);
  if (behind == X[2][45]) S[0] += 1.0f;
}
