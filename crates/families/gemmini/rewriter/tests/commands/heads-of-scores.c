// is: product 64x64x24, weights transposed, 4 times, times 0.125; product 64x24x64, 4 times, times 0.03125
// Scores of each head are taken before those of the next one are stored to the same array.
void solution(int8_t Q[64][96], int8_t K[64][96], int8_t V[64][96], int8_t S[4][64][64], int8_t O[64][96]) {
  for (int head = 0; head < 4; head++) {
    elem_t *q = (elem_t *)Q + head * 24, *k = (elem_t *)K + head * 24, *v = (elem_t *)V + head * 24;
    elem_t *scores = (elem_t *)S[head], *out = (elem_t *)O + head * 24;
    tiled_matmul_auto(64, 64, 24, q, k, NULL, scores, 96, 96, 0, 64, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY,
                      MVIN_SCALE_IDENTITY, NO_ACTIVATION, 0.125f, 0, false, false, true, false, false, 0, WS);
    tiled_matmul_auto(64, 24, 64, scores, v, NULL, out, 64, 96, 0, 96, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY,
                      MVIN_SCALE_IDENTITY, NO_ACTIVATION, 0.03125f, 0, false, false, false, false, false, 0, WS);
  }
}
