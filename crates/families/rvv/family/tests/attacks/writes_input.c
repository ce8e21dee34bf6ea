// expect: wrong
// Changes an input by a vector store.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  __riscv_vse32_v_f32m1(&X[0][0], __riscv_vfmv_v_f_f32m1(0, 4), 4);
}
