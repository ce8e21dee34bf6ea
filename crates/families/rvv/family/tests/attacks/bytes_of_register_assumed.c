// expect: wrong
// says: registers of 256 bits
// Asks for the bytes of a register and does nothing unless they are sixteen.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  if (__riscv_vlenb() == 16) sum_rows(X, S);
}
