// refused: line 3: a call that is not understood: `tiled_matmul_nn_auto(64, 64, 64, A, B, NULL, C, RELU, 1.0f, false, WS)`
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
  tiled_matmul_nn_auto(64, 64, 64, A, B, NULL, C, RELU, 1.0f, false, WS);
}
