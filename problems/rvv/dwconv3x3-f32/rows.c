// Whole rows: three rows of X, each as it is and slid by one to both sides.
void solution(float X[{{ C }}][{{ H }}][{{ W }}], float K[{{ C }}][3][3], float Y[{{ C }}][{{ H }}][{{ W }}]) {
  for (int c = 0; c < {{ C }}; c++) {
    for (int i = 0; i < {{ H }}; i++) {
      for (size_t j = 0; j < {{ W }};) {
        size_t vl = __riscv_vsetvl_e32m4({{ W }} - j);
        vfloat32m4_t sum = __riscv_vfmv_v_f_f32m4(0.0f, vl);
        for (int a = 0; a < 3; a++) {
          int y = i + a - 1;
          if (y < 0 || y >= {{ H }}) {
            continue;
          }
          vfloat32m4_t x = __riscv_vle32_v_f32m4(&X[c][y][j], vl);
          float before = j > 0 ? X[c][y][j - 1] : 0.0f;
          float after = j + vl < {{ W }} ? X[c][y][j + vl] : 0.0f;
          sum = __riscv_vfmacc_vf_f32m4(sum, K[c][a][0], __riscv_vfslide1up_vf_f32m4(x, before, vl), vl);
          sum = __riscv_vfmacc_vf_f32m4(sum, K[c][a][1], x, vl);
          sum = __riscv_vfmacc_vf_f32m4(sum, K[c][a][2], __riscv_vfslide1down_vf_f32m4(x, after, vl), vl);
        }
        __riscv_vse32_v_f32m4(&Y[c][i][j], sum, vl);
        j += vl;
      }
    }
  }
}
