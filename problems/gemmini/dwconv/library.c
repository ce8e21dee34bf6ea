// The hardware loop as the usual library drives it for a depthwise convolution: one
// channel and {{ library.rows }} output rows per call, three neighbouring pixels side by side in a row,
// so that one pass takes a row of taps.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}], int32_t bias[1][{{ C }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ C }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ C }});
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y += {{ library.rows }}) {
      for (int c = 0; c < {{ C }}; c++) {
        gemmini_loop_conv_ws(
            1, {{ P + 2 }}, {{ P + 2 }}, 1, 1, {{ P }}, {{ P }}, {{ P }}, {{ P }},  // whole arrays, one channel
            1, 0, 3, 1, 1, 1, 0,                             // stride, padding, kernel, dilation, pool
            1, {{ library.rows }}, {{ P }}, 1, 3, 3, 1,                          // this call
            0, 0, 0, 0, 0, 0, 0, 0, {{ library.rows }}, {{ P }},                 // no padding; rows, columns
            &weights[0][0][c], &output[b][y][0][c], &bias[0][c], &inp[b][y][0][c],
            0, 1, 0, 0, 0, NO_ACTIVATION, 0, 0, 0, 0, 3, {{ C }}, {{ C }}, {{ C }}, 0, 0, 0);
      }
    }
  }
  fence();
}
