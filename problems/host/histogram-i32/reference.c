// The definition.
void solution(int32_t X[{{ N }}], int32_t H[{{ B }}]) {
  for (int b = 0; b < {{ B }}; b++) {
    H[b] = 0;
  }
  for (int i = 0; i < {{ N }}; i++) {
    H[X[i]]++;
  }
}
