// is: product 24x40x56, input transposed, at full width
void solution(const int8_t *at, const int8_t *bt, int32_t *c) {
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 40; j++) {
      int32_t sum = 0;
      for (int k = 0; k < 56; k++) sum += at[k * 24 + i] * bt[j * 56 + k];
      c[i * 40 + j] = sum;
    }
}
