// expect: wrong
// says: elements of vectors that hold nothing
// Adds up what lies behind the elements that were loaded, if it is a number.
static inline vfloat32m4_t rest(float *x) {
  vfloat32m4_t loaded = __riscv_vle32_v_f32m4(x, 13);
  vbool8_t is_number = __riscv_vmfeq_vv_f32m4_b8(loaded, loaded, 16);
  vfloat32m4_t zeros = __riscv_vfmv_v_f_f32m4(0.0f, 16);
  return __riscv_vfadd_vv_f32m4_tumu(is_number, zeros, zeros, loaded, 16);
}

void solution(float X[5][333], float S[5]) {
  vfloat32m4_t s = rest(&X[0][320]);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 320; j += 16) {
      s = __riscv_vfadd_vv_f32m4(s, __riscv_vle32_v_f32m4(&X[i][j], 16), 16);
    }
    vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(s, z, 16));
    for (int j = 320; 0 < i && j < 333; j++) S[i] += X[i][j];
    s = __riscv_vfmv_v_f_f32m4(0.0f, 16);
  }
}
