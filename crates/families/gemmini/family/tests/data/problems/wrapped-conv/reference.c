{% set Q = (P + 2 - 3) // stride + 1 %}
// The definition.
void solution(elem_t inp[2][{{ P }}][{{ P }}][{{ C }}], elem_t weights[3][3][{{ C }}][{{ O }}], acc_t bias[{{ O }}], elem_t output[2][{{ Q }}][{{ Q }}][{{ O }}]) {
  for (int b = 0; b < 2; b++) {
    for (int y = 0; y < {{ Q }}; y++) {
      for (int x = 0; x < {{ Q }}; x++) {
        for (int o = 0; o < {{ O }}; o++) {
          acc_t sum = bias[o];
          for (int ky = 0; ky < 3; ky++) {
            for (int kx = 0; kx < 3; kx++) {
              int row = y * {{ stride }} + ky - 1;
              int column = x * {{ stride }} + kx - 1;
              if (0 <= row && row < {{ P }} && 0 <= column && column < {{ P }}) {
                for (int c = 0; c < {{ C }}; c++) {
                  sum += inp[b][row][column][c] * weights[ky][kx][c][o];
                }
              }
            }
          }
          output[b][y][x][o] = {% if element == "int8" %}sum > 127 ? 127 : sum < -128 ? -128 : {% endif %}sum;
        }
      }
    }
  }
}
