{% set Q = (P + 2 - 3) // stride + 1 %}
// The whole convolution by the core.
void solution(elem_t inp[2][{{ P }}][{{ P }}][{{ C }}], elem_t weights[3][3][{{ C }}][{{ O }}], acc_t bias[{{ O }}], elem_t output[2][{{ Q }}][{{ Q }}][{{ O }}]) {
  tiled_conv_auto(2, {{ P }}, {{ P }}, {{ C }}, {{ O }}, {{ Q }}, {{ Q }}, {{ stride }}, 1, 1, 1, 3, false, false, false, false, false,
                  &inp[0][0][0][0], &weights[0][0][0][0], bias, &output[0][0][0][0], NO_ACTIVATION,
                  ACC_SCALE_IDENTITY, 0, 0, 0, CPU);
}
