// expect: illegal
// Stores a whole register where five numbers are wanted.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  vfloat32m2_t v = __riscv_vle32_v_f32m2(S, 5);
  __riscv_vse32_v_f32m2(S, v, 8);
}
