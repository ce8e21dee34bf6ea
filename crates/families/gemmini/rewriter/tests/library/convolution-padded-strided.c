// like: convolution-padded-strided
void solution(int8_t inp[2][11][11][16], int8_t weights[5][5][16][16], int8_t output[2][6][6][16]) {
  int stride = 2, padding = 2, kernel = 5;
  int out = (11 + 2 * padding - kernel) / stride + 1;
  tiled_conv_auto(2, 11, 11, 16, 16, out, out, stride, 1, 1, padding, kernel, false, false, false, false, false,
                  (elem_t *)inp, (elem_t *)weights, NULL, (elem_t *)output, NO_ACTIVATION, ACC_SCALE_IDENTITY, 0, 0, 0, WS);
}
