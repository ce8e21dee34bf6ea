// like: convolution-1x1-strided
void solution(int8_t inp[2][14][14][64], int8_t weights[1][1][64][64], int32_t bias[1][64], int8_t output[2][7][7][64]) {
  tiled_conv_auto(2, 14, 14, 64, 64, 7, 7, 2, 1, 1, 0, 1, 0, 0, 0, 0, 0, (elem_t *)inp, (elem_t *)weights, (acc_t *)bias,
                  (elem_t *)output, NO_ACTIVATION, 1.0f, 0, 0, 0, WS);
}
