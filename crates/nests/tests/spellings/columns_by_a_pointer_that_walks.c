// parts: product
// X float32 30,40 input
// Y float32 40 output
void solution(float X[30][40], float Y[40]) {
  float *y = Y;
  for (int c = 0; c < 40; c++) {
    const float *column = &X[0][c];
    float s = 0;
    for (int r = 0; r < 30; r++, column += 40) s += *column;
    *y++ = s;
  }
}
