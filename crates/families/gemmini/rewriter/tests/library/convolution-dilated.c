// like: convolution-dilated
void solution(int8_t inp[2][12][12][32], int8_t weights[3][3][32][32], int32_t bias[1][32], int8_t output[2][8][8][32]) {
  tiled_conv_auto(2, 12, 12, 32, 32, 8, 8, 1, 1, 2, 0, 3, 0, 0, 0, 0, 0, (elem_t *)inp, (elem_t *)weights, (acc_t *)bias,
                  (elem_t *)output, NO_ACTIVATION, 1.0f, 0, 0, 0, WS);
}
