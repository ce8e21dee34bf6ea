// like: product-odd
void solution(int8_t A[33][127], int8_t B[127][65], int8_t C[33][65]) {
  size_t m = 33, n = 65, k = 127;
  enum tiled_matmul_type_t type = WS;
  tiled_matmul_auto(m, n, k, A[0], B[0], 0, C[0], k, n, 0, n, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, 0,
                    NO_ACTIVATION, ACC_SCALE_IDENTITY, 0, false, false, false, false, false, 0, type);
}
