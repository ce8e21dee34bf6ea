// parts: vectors
// X float32 64 input
// Y int8 64 output
void solution(float X[64], int8_t Y[64]) {
  for (int lane = 0; lane < 64; lane++) {
    int16_t narrow = (int16_t)X[lane];
    Y[lane] = narrow > 127 ? 127 : narrow;
  }
}
