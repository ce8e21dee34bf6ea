// is: product 32x24x48, 6 times, at full width
void solution(uint8_t a[6][32][48], int8_t b[6][48][24], int32_t c[6][32][24]) {
  for (int n = 0; n < 6; n++)
    for (int i = 0; i < 32; i++) {
      int32_t row[24] = {0};
      for (int k = 0; k < 48; k++) {
        int32_t v = a[n][i][k];
        for (int j = 0; j < 24; j++) row[j] += v * b[n][k][j];
      }
      for (int j = 0; j < 24; j++) c[n][i][j] = row[j];
    }
}
