y = __riscv_vfmul_vf_f32m4(x, gain[r], vl);
