// expect: wrong
// says: elements of vectors that hold nothing
// Compares an element that a mask leaves out with one of the input.
@SUM_ROWS@

void solution(float X[5][333], float S[5]) {
  vuint32m4_t places = __riscv_vid_v_u32m4(16);
  vbool8_t few = __riscv_vmsltu_vx_u32m4_b8(places, 5, 16);
  vfloat32m4_t v = __riscv_vle32_v_f32m4_m(few, X[1], 16);
  float left_out = __riscv_vfmv_f_s_f32m4_f32(__riscv_vslidedown_vx_f32m4(v, 7, 16));
  sum_rows(X, S);
  if (left_out == X[2][206]) S[1] = -S[1];
}
