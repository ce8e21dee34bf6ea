// expect: ok
// What lies beyond all elements is zero when it slides in.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  size_t most = __riscv_vsetvlmax_e32m1();
  vint32m1_t ones = __riscv_vmv_v_x_i32m1(1, most);
  S[0] += __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(ones, most, most));
}
