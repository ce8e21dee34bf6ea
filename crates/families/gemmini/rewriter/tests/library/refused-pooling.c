// refused: line 3: `tiled_conv_auto`: pooling is not supported, pool_stride must be 0
void solution(int8_t inp[2][8][8][32], int8_t weights[3][3][32][48], int32_t bias[1][48], int8_t output[2][4][4][48]) {
  tiled_conv_auto(2, 8, 8, 32, 48, 8, 8, 1, 1, 1, 1, 3, 0, 0, 0, 0, 0, (elem_t *)inp, (elem_t *)weights, (acc_t *)bias,
                  (elem_t *)output, RELU, 1.0f, 2, 2, 0, WS);
}
