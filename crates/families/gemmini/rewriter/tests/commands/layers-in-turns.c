// is: product 48x64x64, with ReLU, times 0.25; product 48x64x64, with ReLU, times 0.25; product 48x64x64, with ReLU, times 0.25; product 48x64x64, times 0.25
// Layers take two buffers in turn: each is stored to again after it was read.
static elem_t hidden[2][48][64];

static void dense(const elem_t *in, const elem_t *weights, const acc_t *bias, elem_t *out, int act) {
  tiled_matmul_auto(48, 64, 64, in, weights, bias, out, 64, 64, 64, 64, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, 1, act,
                    0.25f, 0, true, false, false, false, false, 0, WS);
}

void solution(int8_t x[48][64], int8_t w[4][64][64], int32_t b[4][64], int8_t y[48][64]) {
  const elem_t *in = (const elem_t *)x;
  for (int layer = 0; layer < 4; layer++) {
    elem_t *out = layer == 3 ? (elem_t *)y : (elem_t *)hidden[layer % 2];
    dense(in, (elem_t *)w[layer], b[layer], out, layer == 3 ? NO_ACTIVATION : RELU);
    in = out;
  }
}
