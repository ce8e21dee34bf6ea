// is: product 32x32x16, weights transposed; product 32x16x32; product 32x32x16, weights transposed; product 32x16x32
// Both heads use the same array for their scores.
static elem_t scores[32][32];

void solution(int8_t Q[2][32][16], int8_t K[2][32][16], int8_t V[2][32][16], int8_t O[2][32][16]) {
  for (int head = 0; head < 2; head++) {
    tiled_matmul_auto(32, 32, 16, (elem_t *)Q[head], (elem_t *)K[head], NULL, (elem_t *)scores, 16, 16, 0, 32,
                      MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, NO_ACTIVATION, 1.0f, 0, false,
                      false, true, false, false, 0, WS);
    tiled_matmul_auto(32, 16, 32, (elem_t *)scores, (elem_t *)V[head], NULL, (elem_t *)O[head], 32, 16, 0, 16,
                      MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, NO_ACTIVATION, 1.0f, 0, false,
                      false, false, false, false, 0, WS);
  }
}
