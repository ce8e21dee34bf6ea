// like: convolution-few-channels
void solution(int8_t inp[2][9][9][3], int8_t weights[3][3][3][24], int32_t bias[1][24], int8_t output[2][9][9][24]) {
  tiled_conv_auto(2, 9, 9, 3, 24, 9, 9, 1, 1, 1, 1, 3, 0, 0, 0, 0, 0, (elem_t *)inp, (elem_t *)weights, (acc_t *)bias,
                  (elem_t *)output, RELU, 0.25f, 0, 0, 0, WS);
}
