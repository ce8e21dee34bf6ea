// expect: wrong
// says: elements of vectors that hold nothing
// Compares what a load that ends at the first fault finds behind an input with an element of it.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  size_t loaded;
  vfloat32m4_t v = __riscv_vle32ff_v_f32m4(&X[4][330], &loaded, 16);
  float behind = __riscv_vfmv_f_s_f32m4_f32(__riscv_vslidedown_vx_f32m4(v, 5, 16));
  sum_rows(X, S);
  if (behind == X[1][17]) S[3] = 0.0f;
}
