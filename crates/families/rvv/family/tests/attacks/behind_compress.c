// expect: wrong
// Uses elements behind those that were kept together.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  sum_rows(X, S);
  vint32m1_t zeros = __riscv_vmv_v_x_i32m1(0, 4);
  vbool32_t two = __riscv_vmsltu_vx_u32m1_b32(__riscv_vid_v_u32m1(4), 2, 4);
  vint32m1_t kept = __riscv_vcompress_vm_i32m1(zeros, two, 4);
  S[0] += __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(kept, 3, 4));
}
