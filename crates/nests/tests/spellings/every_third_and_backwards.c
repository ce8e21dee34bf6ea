// parts: vectors, vectors
// x int8 300 input
// y float32 100 input
// z int32 100 output
// w float32 100 output
void solution(int8_t x[300], float y[100], int32_t z[100], float w[100]) {
  for (int i = 0; i < 100; i++) z[i] = (x[3 * i] + x[3 * i + 1] + x[3 * i + 2]) / 3;
  for (int i = 0; i < 100; i++) w[i] = 2.0f * y[99 - i] + (float)(x[2 * i + 1] & 15);
}
