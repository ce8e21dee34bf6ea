void solution(int8_t input[2][9][9][32], int8_t weights[3][3][32][48], int32_t bias[1][48], int8_t output[2][9][9][48]) {
  tiled_conv_auto(2, 9, 9, 32, 48, 9, 9, 1, 1, 1, 1, 3, false, false, false, false, false, &input[0][0][0][0],
                  &weights[0][0][0][0], &bias[0][0], &output[0][0][0][0], RELU, 1.0f, 0, 0, 0, WS);
}
