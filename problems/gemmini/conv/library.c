// The hardware loop as the usual library drives it for a convolution: {{ batch }} images,
// {{ library.rows }}x{{ library.columns }} pixels, 16 output and {{ library.depth }} input channels per call, by its rule.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  for (int y = 0; y < {{ P }}; y += {{ library.rows }}) {
    int rows = y + {{ library.rows }} < {{ P }} ? {{ library.rows }} : {{ P }} - y;
    for (int x = 0; x < {{ P }}; x += {{ library.columns }}) {
      int columns = x + {{ library.columns }} < {{ P }} ? {{ library.columns }} : {{ P }} - x;
      for (int o = 0; o < {{ K }}; o += 16) {
        for (int c = 0; c < {{ C }}; c += {{ library.depth }}) {
          int depth = c + {{ library.depth }} < {{ C }} ? {{ library.depth }} : {{ C }} - c;
          gemmini_loop_conv_ws(
              {{ batch }}, {{ P + 2 }}, {{ P + 2 }}, {{ C }}, {{ K }}, {{ P }}, {{ P }}, {{ P }}, {{ P }},  // whole arrays
              1, 0, 3, 1, 1, 1, 0,  // stride, padding, kernel, dilation, pool
              {{ batch }}, rows, columns, 16, 3, 3, depth,  // this call
              0, 0, 0, 0, 0, 0, 0, 0, rows, columns,  // no padding; rows, columns
              &weights[0][0][c][o], c + depth == {{ C }} ? &output[0][y][x][o] : 0,
              c == 0 ? &bias[0][o] : 0, &inp[0][y][x][c],
              0, 1, 0, 0, 0, NO_ACTIVATION, 0, 0, 0, 0, 1, {{ C }}, {{ K }}, {{ K }}, 0, 0, 0);
        }
      }
    }
  }
  fence();
}
