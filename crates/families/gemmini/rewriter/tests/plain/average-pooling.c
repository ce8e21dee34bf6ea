// is: product 1x72x49, 6 times, times 0.020408163
// The mean of all pixels of an image is a product with ones.
static int8_t rounded(float value) {
  int32_t whole = (int32_t)value, next = value < 0 ? whole - 1 : whole + 1;
  float rest = value - whole;
  rest = rest < 0 ? -rest : rest;
  whole = rest < 0.5f ? whole : rest > 0.5f ? next : whole % 2 == 0 ? whole : next;
  return whole > 127 ? 127 : whole < -128 ? -128 : whole;
}

void solution(int8_t in[6][7][7][72], int8_t out[6][72]) {
  for (int b = 0; b < 6; b++)
    for (int c = 0; c < 72; c++) {
      int32_t sum = 0;
      for (int y = 0; y < 7; y++)
        for (int x = 0; x < 7; x++) sum += in[b][y][x][c];
      out[b][c] = rounded(sum * (1.0f / 49));
    }
}
