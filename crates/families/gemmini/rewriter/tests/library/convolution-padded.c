// like: convolution-padded
void solution(int8_t inp[2][8][8][32], int8_t weights[3][3][32][48], int32_t bias[1][48], int8_t output[2][8][8][48]) {
  tiled_conv_auto(2, 8, 8, 32, 48, 8, 8, 1, 1, 1, 1, 3, false, false, false, false, false, &inp[0][0][0][0],
                  &weights[0][0][0][0], &bias[0][0], &output[0][0][0][0], NO_ACTIVATION, ACC_SCALE_IDENTITY, 0, 0, 0, WS);
}
