// like: convolution-strided
void solution(int8_t inp[2][17][17][32], int8_t weights[3][3][32][48], int32_t bias[1][48], int8_t output[2][8][8][48]) {
  tiled_conv_auto(2, 17, 17, 32, 48, 8, 8, 2, 1, 1, 0, 3, 0, 0, 0, 0, 0, (elem_t *)inp, (elem_t *)weights, (acc_t *)bias,
                  (elem_t *)output, NO_ACTIVATION, 1.0f, 0, 0, 0, WS);
}
