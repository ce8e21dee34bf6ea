// rvv/gemm-nt-f32-61x45x75: registers that are full, and a loop of single elements for the rest.
void solution(float A[61][75], float B[45][75], float C[61][45]) {
  size_t most = __riscv_vsetvlmax_e32m2();
  for (int i = 0; i < 61; i++) {
    for (int j = 0; j < 45; j++) {
      vfloat32m2_t sums = __riscv_vfmv_v_f_f32m2(0.0f, most);
      size_t k = 0;
      for (; k + most <= 75; k += most) {
        vfloat32m2_t a = __riscv_vle32_v_f32m2(&A[i][k], most);
        vfloat32m2_t b = __riscv_vle32_v_f32m2(&B[j][k], most);
        sums = __riscv_vfmacc_vv_f32m2(sums, a, b, most);
      }
      vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
      float sum = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m2_f32m1(sums, zero, most));
      for (; k < 75; k++) {
        sum += A[i][k] * B[j][k];
      }
      C[i][j] = sum;
    }
  }
}
