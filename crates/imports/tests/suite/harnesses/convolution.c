#define STRIDE 2
#define R 3
#define C 16
#define K 32
#define N 2
#define P 7
#define ROWS ((P - 1) * STRIDE + R)
#define OUTPUT_MATRIX_NAME output

int main() {
  static elem_t inp[N][ROWS][ROWS][C] row_align(1);
  static elem_t weights[R][R][C][K] row_align(1);
  static acc_t bias[1][K] row_align_acc(1);
  static elem_t gold[N][P][P][K] row_align(1);
  static elem_t output[N][P][P][K] row_align(1);
  for (size_t n = 0; n < N; n++) {
  for (size_t y = 0; y < ROWS; y++) {
  for (size_t x = 0; x < ROWS; x++) {
  for (size_t c = 0; c < C; c++) {
    inp[n][y][x][c] = (elem_t) (rand() % 2);
  }}}}
  for (size_t k = 0; k < K; k++) {
    for (size_t r = 0; r < R; r++) {
    for (size_t s = 0; s < R; s++) {
    for (size_t c = 0; c < C; c++) {
      weights[r][s][c][k] = (elem_t) (rand() % 3 == 0);
    }}}
    bias[0][k] = (acc_t) (rand() % 5);
  }
  tiled_conv_auto(
      N, ROWS, ROWS, C,
      K, P, P,
      STRIDE, 1, 1, 0, R,
      false, false, false,
      false, false,
      inp, weights, bias, gold,
      NO_ACTIVATION, 1,
      0, 0, 0,
      WEIGHT_STATIONARY);
}
