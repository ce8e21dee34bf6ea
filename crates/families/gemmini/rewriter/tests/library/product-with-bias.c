// like: product-with-bias
void solution(int8_t A[100][48], int8_t B[48][72], int32_t D[1][72], int8_t C[100][72]) {
  tiled_matmul_auto(100, 72, 48, &A[0][0], &B[0][0], &D[0][0], &C[0][0], 48, 72, 72, 72, MVIN_SCALE_IDENTITY,
                    MVIN_SCALE_IDENTITY, 1, NO_ACTIVATION, ACC_SCALE_IDENTITY, 0, true, false, false, false, false, 0, WS);
}
