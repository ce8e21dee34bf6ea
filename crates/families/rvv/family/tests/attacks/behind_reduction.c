// expect: wrong
// Uses elements behind the first of a reduction.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  vint32m1_t v = __riscv_vmv_v_x_i32m1(0, 4);
  vint32m1_t sum = __riscv_vredsum_vs_i32m1_i32m1(v, v, 4);
  S[0] += __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(sum, 3, 4));
}
