// is: product 64x64x64, at full width, then the core
static int8_t clamped(int32_t value) { return value > 127 ? 127 : value < -128 ? -128 : value; }
void solution(int8_t A[64][64], int8_t W[64][64], int8_t gate[64][64], int8_t C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 64; k++) sum += A[i][k] * W[k][j];
      C[i][j] = clamped((clamped(sum >> 6) * gate[i][j]) >> 7);
    }
}
