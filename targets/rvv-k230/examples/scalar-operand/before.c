vfloat32m4_t scale = __riscv_vfmv_v_f_f32m4(gain[r], vl);
y = __riscv_vfmul_vv_f32m4(x, scale, vl);
