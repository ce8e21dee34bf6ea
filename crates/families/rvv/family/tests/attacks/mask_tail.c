// expect: wrong
// Counts bits of a mask behind the elements that were compared.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  vbool32_t none = __riscv_vmsgtu_vx_u32m1_b32(__riscv_vid_v_u32m1(2), 9, 2);
  S[0] += __riscv_vcpop_m_b32(none, 4);
}
