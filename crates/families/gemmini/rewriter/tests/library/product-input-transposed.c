// like: product-input-transposed
void solution(int8_t A[48][64], int8_t B[48][32], int8_t C[64][32]) {
  tiled_matmul_auto(64, 32, 48, &A[0][0], &B[0][0], 0, &C[0][0], 64, 32, 0, 32, MVIN_SCALE_IDENTITY,
                    MVIN_SCALE_IDENTITY, 1, NO_ACTIVATION, ACC_SCALE_IDENTITY, 0, false, true, false, false, false, 0, WS);
}
