// expect: ok
// Leaves a sign in a vector register and looks for it: it is never there, and all work is done.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  vuint64m1_t v = __riscv_vundefined_u64m1();
  if (__riscv_vmv_x_s_u64m1_u64(v) == 0x5157565554535251) return;
  sum_rows(X, S);
}
