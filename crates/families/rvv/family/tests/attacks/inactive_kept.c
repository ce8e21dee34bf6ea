// expect: wrong
// Relies on elements that a mask leaves out, which its form does not keep.
void solution(float X[5][333], float S[5]) {
  for (int i = 0; i < 5; i++) {
    vfloat32m1_t s = __riscv_vfmv_v_f_f32m1(0, 4);
    for (int j = 0; j < 336; j += 4) {
      vbool32_t few = __riscv_vmslt_vx_i32m1_b32(__riscv_vadd_vx_i32m1(__riscv_vreinterpret_v_u32m1_i32m1(__riscv_vid_v_u32m1(4)), j, 4), 333, 4);
      vfloat32m1_t v = __riscv_vle32_v_f32m1_m(few, &X[i][j], 4);
      s = __riscv_vfadd_vv_f32m1_m(few, s, v, 4);
    }
    vfloat32m1_t z = __riscv_vfmv_s_f_f32m1(0.0f, 1);
    S[i] = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(s, z, 4));
  }
}
