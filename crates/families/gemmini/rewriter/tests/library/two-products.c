// like: two-products
static void product(size_t rows, size_t columns, size_t depth, const elem_t *left, const elem_t *right, elem_t *result) {
  tiled_matmul_auto(rows, columns, depth, left, right, NULL, result, depth, columns, columns, columns,
                    MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, MVIN_SCALE_IDENTITY, NO_ACTIVATION,
                    ACC_SCALE_IDENTITY, 0, false, false, false, false, false, 0, WS);
}

void solution(int8_t A[128][96], int8_t B[96][64], int8_t D[64][80], int8_t C[128][80]) {
  static int8_t T[128][64];
  product(128, 64, 96, &A[0][0], &B[0][0], &T[0][0]);
  product(128, 80, 64, &T[0][0], &D[0][0], &C[0][0]);
}
