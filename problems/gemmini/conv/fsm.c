// The hardware loop, {{ fsm.images ~ " images of " if 1 < fsm.images }}{{ fsm.rows }}x{{ fsm.columns }} pixels by {{ fsm.channels }} output channels and {{ fsm.depth }} input channels
// per call: about as many pixels as half the accumulator takes, so that weights change
// seldom; in rows that nearly fill a tile, so that the next weights come in behind them;
// and {{ fsm.depth }} input channels, a line, at a time, so that less is waited for at first.
void solution(int8_t inp[{{ batch }}][{{ P + 2 }}][{{ P + 2 }}][{{ C }}], int8_t weights[3][3][{{ C }}][{{ K }}], int32_t bias[1][{{ K }}], int8_t output[{{ batch }}][{{ P }}][{{ P }}][{{ K }}]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({{ K }});
  for (int b = 0; b < {{ batch }}; b += {{ fsm.images }}) {
    for (int y = 0; y < {{ P }}; y += {{ fsm.rows }}) {
      for (int x = 0; x < {{ P }}; x += {{ fsm.columns }}) {
        for (int o = 0; o < {{ K }}; o += {{ fsm.channels }}) {
          for (int c = 0; c < {{ C }}; c += {{ fsm.depth }}) {
            gemmini_loop_conv_ws(
                {{ batch }}, {{ P + 2 }}, {{ P + 2 }}, {{ C }}, {{ K }}, {{ P }}, {{ P }}, {{ P }}, {{ P }},  // whole arrays
                1, 0, 3, 1, 1, 1, 0,  // stride, padding, kernel, dilation, pool
                {{ fsm.images }}, {{ fsm.rows }}, {{ fsm.columns }}, {{ fsm.channels }}, 3, 3, {{ fsm.depth }},  // this call
                0, 0, 0, 0, 0, 0, 0, 0, {{ fsm.rows }}, {{ fsm.columns }},  // no padding; rows, columns
                &weights[0][0][c][o], c == {{ C - fsm.depth }} ? &output[b][y][x][o] : 0,
                c == 0 ? &bias[0][o] : 0, &inp[b][y][x][c],
                0, 1, 0, 0, 0, NO_ACTIVATION, 0, 0, 0, 0, 1, {{ C }}, {{ K }}, {{ K }}, 0, 0, 0);
          }
        }
      }
    }
  }
  fence();
}
