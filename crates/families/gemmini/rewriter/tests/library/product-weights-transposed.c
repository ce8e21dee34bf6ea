// like: product-weights-transposed
void solution(int8_t A[40][50], int8_t B[36][50], int8_t C[40][36]) {
  tiled_matmul_auto(40, 36, 50, &A[0][0], &B[0][0], 0, &C[0][0], 50, 50, 0, 36, MVIN_SCALE_IDENTITY,
                    MVIN_SCALE_IDENTITY, 1, NO_ACTIVATION, ACC_SCALE_IDENTITY, 0, false, false, true, false, false, 0, WS);
}
