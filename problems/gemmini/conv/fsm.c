// The hardware loop, {{ fsm.rows }} output rows and {{ fsm.channels }} output channels per call.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  for (int b = 0; b < {{ batch }}; b++) {
    for (int y = 0; y < {{ P }}; y += {{ fsm.rows }}) {
      for (int o = 0; o < {{ K }}; o += {{ fsm.channels }}) {
        gemmini_loop_conv_ws(
            1, {{ P + 2 }}, {{ P + 2 }}, {{ C }}, {{ K }}, {{ P }}, {{ P }}, {{ P }}, {{ P }},  // whole arrays
            1, 0, 3, 1, 1, 1, 0,                                // stride, padding, kernel, dilation, pool
            1, {{ fsm.rows }}, {{ P }}, {{ fsm.channels }}, 3, 3, {{ C }},                    // this call
            0, 0, 0, 0, 0, 0, 0, 0, {{ fsm.rows }}, {{ P }},                    // no padding; rows, columns
            &weights[0][0][0][o], &output[b][y][0][o], &bias[0][o], &inp[b][y][0][0],
            0, 1, 0, 0, 0, NO_ACTIVATION, 0, 0, 0, 0, 1, {{ C }}, {{ K }}, {{ K }}, 0, 0, 0);
      }
    }
  }
  fence();
}
